-- SPDX-License-Identifier: Apache-2.0
-- Photos in the blob store (photos/ledger.h), and which offers and drafts refer to them
-- (offers/photo_use.h).
CREATE TABLE photo (
    photo TEXT NOT NULL,     -- the stem of its keys
    made_ms BIGINT NOT NULL, -- part of its blobs' names: what is made anew has others
    free_us BIGINT NOT NULL, -- since when no offer and no draft refers to it; 0: one does
    forms TEXT NOT NULL,     -- the ends of its blobs' names
    PRIMARY KEY (photo)
);
CREATE INDEX photo_free ON photo (free_us) WHERE free_us > 0;

CREATE TABLE photo_use (
    holder_id BIGINT NOT NULL, -- of an offer or a draft; of an upload: a hash of its seller
    kind BIGINT NOT NULL,      -- enum photo_use_kind
    photo TEXT NOT NULL,       -- the stem of its keys, or a key that is not ours
    seller_id TEXT NOT NULL,
    shown BIGINT NOT NULL,     -- 1: of an offer that everybody may see
    PRIMARY KEY (holder_id, kind, photo)
);
CREATE INDEX photo_use_photo ON photo_use (photo);

-- Whose rows are gone already and whose blobs are not yet.
CREATE TABLE photo_trash (
    photo TEXT NOT NULL,
    made_ms BIGINT NOT NULL,
    forms TEXT NOT NULL,
    PRIMARY KEY (photo, made_ms)
);

-- What an address gave when it was fetched last: asked again, it is asked whether that has changed.
CREATE TABLE photo_source (
    url TEXT NOT NULL PRIMARY KEY,
    photo TEXT NOT NULL,
    etag TEXT NOT NULL,     -- as its server has told them; "": it has not
    modified TEXT NOT NULL,
    body BYTEA NOT NULL     -- a PhotoResult.Item
);
CREATE INDEX photo_source_photo ON photo_source (photo);

-- Photos that look alike: each of four bands of 16 bits of a look, so that two which differ in few
-- bits share one.
CREATE TABLE photo_look (
    band BIGINT NOT NULL,
    photo TEXT NOT NULL,
    look BIGINT NOT NULL,
    PRIMARY KEY (band, photo)
);
CREATE INDEX photo_look_photo ON photo_look (photo);

-- Up to which offer those from before these tables are listed in photo_use; -1: all are.
CREATE TABLE photo_listing (
    name TEXT NOT NULL PRIMARY KEY,
    last_id BIGINT NOT NULL
);
INSERT INTO photo_listing (name, last_id)
    SELECT 'offers', CASE WHEN EXISTS (SELECT 1 FROM offer) THEN 0 ELSE -1 END;
