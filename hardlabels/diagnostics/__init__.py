"""Stage 7, diagnostics: probes of finished runs. A probe is one file: it takes finished run(s) and yields (name, value)."""
