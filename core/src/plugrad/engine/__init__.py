"""Join the parts: schedule, lower, compile, cache, run; and remember which values have memory."""
