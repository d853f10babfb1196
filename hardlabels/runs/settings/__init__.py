"""A configuration before any work: impossible settings, hidden changes, settings that nothing reads, and the jobs of a grid."""
