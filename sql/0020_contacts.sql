-- SPDX-License-Identifier: Apache-2.0
-- What buyers ask of sellers: how often an offer's phones were shown, and messages, which the cabinet
-- lists newest first.
CREATE TABLE offer_reveal (
    seller_id TEXT NOT NULL,
    offer_id BIGINT NOT NULL,
    counter BIGINT NOT NULL,
    PRIMARY KEY (seller_id, offer_id)
);
CREATE TABLE seller_message (
    seller_id TEXT NOT NULL,
    sent_us BIGINT NOT NULL,
    id BIGINT NOT NULL,  -- of the message: one that comes again is told by it
    body BYTEA NOT NULL, -- a SellerMessage
    PRIMARY KEY (seller_id, sent_us, id)
);
