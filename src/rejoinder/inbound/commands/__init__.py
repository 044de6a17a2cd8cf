"""Commands such as `/help`: one file for each topic, and one gate for all of them. They return effects and perform
none."""
