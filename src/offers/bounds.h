/* SPDX-License-Identifier: Apache-2.0 */
/* bounds.h - the bounds of offers/, each with its reason; docs/limits.md has those of all. */
#ifndef TORG_OFFERS_BOUNDS_H
#define TORG_OFFERS_BOUNDS_H

enum {
    OFFER_SIZE_MAX = 100 << 10,    /* one offer, encoded, as who writes its content may leave it */
    OFFER_RESERVE_SIZE = 12 << 10, /* above that, for what others do to it: a sentence on each of a
                                     hundred photos (9 KB), a ban, a sale, times that grow */
    OFFER_STORED_SIZE_MAX = OFFER_SIZE_MAX + OFFER_RESERVE_SIZE, /* what later stages can take */
    OFFER_PACK_SIZE_MIN = 1 << 10, /* below, compression wins less than a page and costs 10 us */
    OFFER_SHARD_COUNT = 64,        /* part of stored data: sellers keep their shards for ever */
    OFFER_ATTEMPT_COUNT_MAX = 20,  /* a change outrun this often by others is ERR_CONFLICT */
    OFFER_ID_ATTEMPT_MAX = 20,     /* ids taken already that are drawn again for one offer */
    OFFER_BATCH_COUNT_MAX = 100,   /* ids of one GetOffers; of one page of the cabinet */
    OFFER_PAGE_COUNT = 20,         /* default of a page */
    OFFER_SCAN_COUNT = 500,        /* rows of one read of a long scan: 50 MB at the most */
    OFFER_URL_SIZE_MAX = 2048,     /* of a photo */
    OFFER_ADDRESS_LENGTH_MAX = 500,
    OFFER_NAME_LENGTH_MAX = 100, /* whom to ask for */
    OFFER_PHONE_COUNT_MAX = 5,
    OFFER_EMAIL_SIZE_MAX = 254,    /* as mail servers have it */
    OFFER_PROPERTY_COUNT_MAX = 50, /* what no attribute is for: a table one can read */
    OFFER_PROPERTY_NAME_LENGTH_MAX = 64,
    OFFER_PROPERTY_VALUE_LENGTH_MAX = 300, /* longer is a description */
    OFFER_EXTERNAL_ID_SIZE_MAX = 128,      /* a seller's article number; part of a key */
    OFFER_LIFETIME_DAYS = 30,              /* where the catalogue says nothing */
    ONCE_KEY_SIZE_MAX = 64,                /* a UUID has 36 */
    ONCE_LIFETIME_S = 24 * 3600, /* a client that repeats later than this is not retrying */

    /* ---- what others say of an offer: moderators, photos, stages ---- */
    OPINION_REASON_COUNT_MAX = 20, /* of a moderator; more is not read */
    OPINION_REASON_SIZE_MAX = 500,
    OPINION_WORKER_COUNT = 4,       /* threads that apply a batch of opinions: they are few */
    PHOTO_RESULT_WORKER_COUNT = 32, /* and of results of photos, which are as many as offers */
    PHOTO_HASH_SIZE_MAX = 64,       /* SHA-512 */
    PHOTO_REASON_SIZE_MAX = 500,    /* a sentence for the seller */
    PHOTO_ASK_AGAIN_S = 8 * 3600, /* a feed that names what had failed: three times a day at most */
    PHOTO_ASK_BY_HAND_S = 60,     /* a seller who saves: he has mended it, or presses on */
    PHOTO_SILENCE_S = 24 * 3600,  /* without an answer: the request is lost, or nobody fetches */
    PHOTO_ASK_COUNT_MAX = 3,      /* then it has failed, in words */
    LIKENESS_BITS_MIN = 8,        /* set, and not set, in a look that says something */
    LIKENESS_BAND_COUNT = 2000,   /* photos looked at that share a band of a look */
    LIKENESS_PHOTO_COUNT = 100,   /* those of them that look alike */
    LIKENESS_OFFER_COUNT = 1000,  /* and the offers they stand in: more are told as so many */
    MESSAGE_TEXT_LENGTH_MAX = 2000, /* of a buyer: a question, not a letter */
    MESSAGE_SIZE_MAX =
        16 << 10, /* one, encoded: its text in four bytes a character, and the rest */
    MESSAGE_PHONE_DIGITS_MIN = 5, /* of the phone to answer to: a town's own */
    MESSAGE_PHONE_DIGITS_MAX = 20,
    MESSAGE_LIFE_DAYS = 180,    /* an answer is late by then */
    MESSAGE_CHUNK_COUNT = 1000, /* old ones removed by one transaction */
    MESSAGE_WORKER_COUNT = 4,   /* threads that apply a batch of messages */
    CONTACT_SET_COUNT = 2048,   /* callers whose contacts are counted: 16 384, in 400 KB */
    CONTACT_SET_SIZE = 8,
    STAGE_NAME_SIZE_MAX = 40,        /* part of a key */
    STAGE_VALUE_SIZE_MAX = 64 << 10, /* a state, not a document */

    /* ---- the worker ---- */
    EXPORT_WINDOW_COUNT = 100,      /* oldest rows looked at in one shard: none starves others */
    EXPORT_DAMAGED_WINDOW_MAX = 20, /* such windows, while all in them is damaged */
    EXPORT_TOLD_COUNT = 1024,       /* damaged rows that are not logged again: 8 KB */
    EXPORT_BATCH_COUNT = 1000,      /* changes sent before one deletion */
    EXPORT_SENT_COUNT = 4096,       /* rows some of whose topics have them already: 128 KB */
    EXPORT_BATCH_SIZE = 8 << 20,    /* and their bytes: a fraction of what may be in flight */
    EXPORT_PAUSE_MS = 20,    /* after a round that was not full: small rounds cost as many syncs */
    EXPORT_WAIT_MS_MIN = 5,  /* after an empty round; doubled with each … */
    EXPORT_WAIT_MS_MAX = 50, /* … up to this: the delay of a change after a quiet time */
    EXPORT_ALONE_MS_MAX = 1000,   /* at once this where all writers ring: shards that were gained */
    EXPORT_RETRY_MS_MAX = 1000,   /* the same after failures, from EXPORT_WAIT_MS_MAX on */
    EXPIRY_CHUNK_COUNT = 100,     /* offers found by one read; each is a transaction */
    ONCE_CHUNK_COUNT = 1000,      /* kept answers removed by one transaction */
    PHOTO_LIST_CHUNK_COUNT = 100, /* offers whose photos are listed by one transaction */
    DRAFT_CHUNK_COUNT = 200,      /* abandoned drafts removed by one transaction */
    KEEPING_PERIOD_MS = 1000,     /* expiry, old answers and lag are looked at this often */
    LIST_CHECK_COUNT = 500,       /* rows of one read when lists are checked: 50 MB at the most */
    RECOUNT_CHUNK_COUNT = 250,    /* offers of one transaction of a recount: 3 ms of the writer */
    COUNTERS_TELL_MS = 1000,      /* how often a check tells where it is */
    COUNTERS_TELL_COUNT = 1000,   /* and after how many findings */
};

#endif
