"""What a search believes about runs that weren't made."""
