-- The cost of a model call is in millionths of its currency; both are NULL where the price is unknown, as of all calls before.
ALTER TABLE usage ADD COLUMN currency TEXT;

-- The budget asks before each model call what this day has used.
CREATE INDEX usage_day ON usage(day);
