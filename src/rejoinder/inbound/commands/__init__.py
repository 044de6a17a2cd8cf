"""Commands: `/help` and its kin. One file per topic, one gate before all of them, effects, not deeds."""
