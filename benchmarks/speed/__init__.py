"""Systems and trees → CPU seconds, latency and memory."""
