"""Move, join, split, pad and window elements without computing with them."""
