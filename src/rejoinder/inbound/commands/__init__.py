"""Commands such as `/help`: one file per topic, one gate before all of them; they return effects, and perform none."""
