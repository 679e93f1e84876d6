"""Real tools run on real packages with failures put in → outputs whose failure lines are known by construction."""
