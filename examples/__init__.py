"""Examples of codecards inside an agent."""
