-- SPDX-License-Identifier: Apache-2.0
-- What visitors did with offers, by hours (since 1970), and how far rates are sent.

CREATE TABLE click_hour (
    hour BIGINT NOT NULL,
    offer TEXT NOT NULL,
    category TEXT NOT NULL,
    shows BIGINT NOT NULL,
    looks BIGINT NOT NULL, -- shows, each weighed by how many look at its position; in millionths
    clicks BIGINT NOT NULL,
    contacts BIGINT NOT NULL,
    favourites BIGINT NOT NULL,
    changed_us BIGINT NOT NULL,
    PRIMARY KEY (hour, offer)
) /* sqlite: WITHOUT ROWID */;
CREATE INDEX click_changed ON click_hour (changed_us);
CREATE INDEX click_offer ON click_hour (offer, hour);

-- Events that were counted, and how many of each session.
CREATE TABLE click_seen (
    hour BIGINT NOT NULL,
    event BIGINT NOT NULL, -- a hash of session and id
    PRIMARY KEY (event)
);
CREATE INDEX click_seen_hour ON click_seen (hour);
CREATE TABLE click_session (
    hour BIGINT NOT NULL,
    session BIGINT NOT NULL,
    events BIGINT NOT NULL,
    PRIMARY KEY (hour, session)
) /* sqlite: WITHOUT ROWID */;

-- Small things to remember: 'sent_us', up to where changes of counts are sent as rates.
CREATE TABLE click_value (
    name TEXT PRIMARY KEY,
    value BIGINT NOT NULL
);
INSERT INTO click_value (name, value) VALUES ('sent_us', 0);
