"""Questions without an answer → how often a system claims to have found one."""
