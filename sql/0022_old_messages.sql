-- SPDX-License-Identifier: Apache-2.0
-- Messages that are too old are found without looking at all of them (offers/messages.h).
CREATE INDEX seller_message_sent ON seller_message (sent_us);
