-- By this the sweep finds what the gateway said itself long ago, without reading all that agents have said.
CREATE INDEX part_of_no_turn ON part (planned) WHERE turn IS NULL;
