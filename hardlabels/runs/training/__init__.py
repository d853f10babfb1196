"""Training one run: its parts, the loop, what is kept while it trains, and what it leaves behind."""
