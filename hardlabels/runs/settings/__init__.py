"""A configuration before any work: what cannot be, what would be hidden, what nothing reads, and the jobs of a grid."""
