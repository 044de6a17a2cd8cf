-- What is quarantined is counted often, and is little among much that has ended.
CREATE INDEX inbox_quarantined ON inbox (id) WHERE state = 'quarantined';
CREATE INDEX turn_quarantined ON turn (id) WHERE state = 'quarantined';
