-- SPDX-License-Identifier: Apache-2.0
-- What visitors clicked after which text: of a day (since 1970), in how many visits an offer of the
-- category was, and the marks of who visited, a bit each (clicks/texts.h).
CREATE TABLE click_text (
    text TEXT NOT NULL,
    category TEXT NOT NULL,
    day BIGINT NOT NULL,
    visits BIGINT NOT NULL,
    marks BIGINT NOT NULL,
    PRIMARY KEY (text, category, day)
) /* sqlite: WITHOUT ROWID */;
CREATE INDEX click_text_day ON click_text (day);
