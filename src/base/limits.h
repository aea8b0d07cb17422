/* SPDX-License-Identifier: Apache-2.0 */
/*
 * limits.h - every bound of the house, with its reason. A folder has its own section.
 *
 * What a limit refuses is refused with the limit's name and value. Those that an operator may
 * change are defaults here, and settings in config/.
 */
#ifndef TORG_BASE_LIMITS_H
#define TORG_BASE_LIMITS_H

enum {
    /* ---- base ---- */
    LOG_LINE_SIZE_MAX = 16 << 10,   /* one write(2); longer events lose their fields */
    LOG_REQUEST_ID_SIZE_MAX = 64,   /* ours are 16; a client's own id is cut to this */
    METRIC_SERIES_COUNT_MAX = 4096, /* a label from outside must not eat the memory */
    METRIC_LABELS_SIZE_MAX = 256,
    VIOLATION_COUNT_MAX = 100, /* reasons told at once about one message */
    TASK_SILENCE_MS_MAX =
        60000,           /* a piece of work is told within it, unless a task has its own limit */
    TASK_LOOK_MS = 1000, /* tasks are looked at so often */

    /* ---- config ---- */
    CONFIG_FILE_SIZE_MAX = 1 << 20, /* written by hand; more is not a configuration */
    CONFIG_LINE_SIZE_MAX = 4096,    /* a value, quoted, with its name and a comment */
    CONFIG_VALUE_SIZE_MAX = 1024,   /* paths and URLs */
    CONFIG_THREAD_COUNT_MAX = 1024, /* more threads than this only wait for each other */

    /* ---- roles ---- */
    OPENAPI_SIZE_MAX = 4 << 20, /* made once at the start, from our own .proto files */
    READY_ASK_MS = 1000,        /* the broker is asked so often whether it is there */
    READY_LOOK_MS = 500,        /* and all servers' last answers are looked at */
    READY_WAIT_MS = 100,        /* likewise while it is not ready: callers wait for it */
    READY_SILENCE_MS = 5000,    /* then /readyz tells; keys are read twice a second, leases renewed
                                   every 1.7 s */

    /* ---- catalog ---- */
    CATALOG_FILE_SIZE_MAX = 24 << 20,     /* JSON; 15 000 categories are about 6 MB */
    CATALOG_WIRE_SIZE_MAX = 12 << 20,     /* the same as a message, unpacked */
    CATALOG_PACKED_SIZE_MAX = 2 << 20,    /* in base64 still below a request's limit */
    CATALOG_CATEGORY_COUNT_MAX = 20000,   /* 15 000 are promised */
    CATALOG_DEPTH_MAX = 12,               /* deeper trees are no longer walked by people */
    CATALOG_ATTRIBUTE_COUNT_MAX = 5000,   /* defined; the index has a field for each */
    CATALOG_ATTRIBUTE_CATEGORY_MAX = 100, /* of one category: a form somebody has to fill in */
    CATALOG_OPTION_COUNT_MAX = 5000,      /* of one attribute: makes and models of cars */
    CATALOG_UNIT_COUNT_MAX = 16,
    CATALOG_SYNONYM_COUNT_MAX = 32, /* of one category, in one language */
    CATALOG_ID_SIZE_MAX = 64,
    CATALOG_NAME_SIZE_MAX = 200,      /* bytes of a name in one language */
    CATALOG_TEXT_LENGTH_MAX = 10000,  /* characters of a text attribute; an offer has 100 KB */
    CATALOG_TEXT_LENGTH = 1000,       /* unless the attribute says */
    CATALOG_DESCRIPTION_MAX = 30000,  /* characters; as UTF-8 within an offer's 100 KB */
    CATALOG_TITLE_MAX = 500,          /* characters */
    CATALOG_PHOTO_COUNT_MAX = 100,    /* of one offer */
    CATALOG_PHOTO_WAIT_S_MAX = 86400, /* an offer held back for longer is forgotten */
    CATALOG_CURRENCY_COUNT_MAX = 16,
    CATALOG_LIFETIME_DAYS_MAX = 3650,
    CATALOG_VALUE_COUNT_MAX = 200, /* attribute values of one offer */
    CATALOG_QUERY_SIZE_MAX = 200,  /* searching categories: bytes and words of a query */
    CATALOG_QUERY_WORD_MAX = 8,
    CATALOG_SEARCH_COUNT = 20,
    CATALOG_SEARCH_COUNT_MAX = 100,
    CATALOG_SET_COUNT_MAX = 200, /* categories of one ListAttributes */
    CATALOG_REFRESH_MS = 1000,   /* a new version is in use everywhere within two seconds */
    CATALOG_SAMPLE_COUNT = 5,    /* offers named for each category a change would break */

    /* ---- access ---- */
    KEY_COUNT_MAX = 50000,    /* all are held in memory, about 600 bytes each */
    KEY_PAGE_COUNT = 500,     /* rows read at a time */
    KEY_REFRESH_MS = 500,     /* a revocation elsewhere is known here within a second */
    KEY_STALE_MS_MAX = 60000, /* a store silent for longer: stored keys are refused */
    KEY_STALE_SEARCH_MS_MAX = 3600 * 1000, /* those that can only search; buyers go on by them */
    KEY_TEMPORARY_COUNT_MAX = 4,           /* the start key, the operators' key */
    /* ---- net: the server ---- */
    NET_HEAD_SIZE_MAX = 32 << 10, /* request line and headers together; proxies send up to 16 KB */
    NET_HEADER_COUNT_MAX = 100,   /* honest clients send some twenty */
    NET_MESSAGE_SIZE_MAX = 4 << 20, /* one message, packed or not: gRPC's own default */
    NET_REPLY_SIZE_MAX = 64 << 20,  /* an answer is built in memory; larger ones are streams */
    NET_BODY_CONNECTION_SIZE_MAX = 32 << 20, /* unfinished bodies of one connection */
    NET_BODY_SERVER_SIZE_MAX = 256 << 20,    /* of all connections together; then 429 ... */
    NET_BODY_UNCHARGED_SIZE = 64 << 10,      /* ... where bodies up to this are not counted */
    NET_STREAM_COUNT_MAX = 256,              /* concurrent streams of a connection */
    NET_CONNECTION_COUNT_MAX = 16384,        /* of the whole server; an idle one costs 1 to 3 KB */
    NET_REACTOR_COUNT_MAX = 64,
    NET_WORKER_COUNT = 64,     /* threads for handlers that block: a group of commits has as many */
    NET_BRIEF_SPARE_COUNT = 2, /* threads for brief handlers besides one a core: a disk is slow */
    NET_WORKER_COUNT_MAX = 1024,
    NET_WORKER_QUEUE_MAX = 1024,             /* calls waiting for a worker; then 429 */
    NET_STREAM_THREAD_COUNT_MAX = 256,       /* streams served at once, a thread each; then 429 */
    NET_STREAM_THREAD_CONNECTION_MAX = 64,   /* so that four clients at least can have streams */
    NET_ANONYMOUS_STREAM_COUNT_MAX = 16,     /* threads for streams without a key, beside those */
    NET_ANONYMOUS_STREAM_CONNECTION_MAX = 4, /* a probe has one, a curious person two */
    NET_ANONYMOUS_STREAM_MS = 300 * 1000, /* then such a stream ends: others wait for its place */
    NET_WINDOW_SIZE = 256 << 10,          /* HTTP/2 receive window of a stream */
    NET_CONNECTION_WINDOW_SIZE = 1 << 20,
    NET_STREAM_OUT_SIZE_MAX = 128 << 10,      /* a stream's unsent bytes before call_write blocks */
    NET_UNSENT_CONNECTION_SIZE_MAX = 8 << 20, /* of answers; then a connection's next calls wait */
    NET_UNSENT_SHED_SIZE = 192 << 20,         /* of all connections; then the worst is closed ... */
    NET_UNSENT_SERVER_SIZE_MAX = 256 << 20, /* ... and from here on answers are refused (429) ... */
    NET_UNSENT_REFUSED_SIZE = 1 << 20, /* ... that are larger than this: no answer to a write */
    NET_UNSENT_SMALL_SIZE = 64 << 10,  /* up to this an answer is counted by its connection */
    NET_UNSENT_UNTOLD_SIZE = 16 << 10, /* which tells the server of no less than this */
    NET_READ_SIZE = 64 << 10,          /* one read(2); a buffer a reactor */
    NET_WRITE_SIZE = 128 << 10,        /* frames gathered before one write(2) */
    NET_REPLY_HEADER_COUNT_MAX = 16,   /* headers a handler may add to its answer */
    NET_GZIP_SIZE_MIN = 4 << 10,       /* smaller answers are sent as they are */
    NET_FILE_COUNT_MAX = 256,
    NET_GET_COUNT_MAX = 16,   /* addresses of methods that are read by GET */
    NET_FOLDER_COUNT_MAX = 8, /* a prefix each: photos, and few more to come */
    NET_SERVICE_COUNT_MAX = 128,
    NET_HEAD_TIMEOUT_MS = 10 * 1000,  /* from a request's first byte to the end of its head */
    NET_BODY_GRACE_MS = 10 * 1000,    /* a body may take this long; of each such time ... */
    NET_BODY_RATE_MIN = 1 << 10,      /* ... so many bytes a second must have come */
    NET_IDLE_TIMEOUT_MS = 180 * 1000, /* a connection without calls */
    NET_STALL_TIMEOUT_MS = 30 * 1000, /* a client that takes nothing of its answer */
    NET_STALL_SIZE_MIN = 4 << 10,     /* ... or less than this of it in that time */
    NET_FLOOD_BUDGET = 2000,          /* HTTP/2 frames that cost us and bring nothing ... */
    NET_FLOOD_REFILL_PER_S = 100,     /* ... and how fast the budget comes back */
    NET_RETRY_AFTER_S = 1,            /* told to clients that came while all are busy */
    NET_TURN_MS_MAX = 5 * 1000,       /* of a reactor; usually below one. Then it is called stuck */
    /* ---- topic ---- */
    TOPIC_NAME_SIZE_MAX = 120,            /* a directory name; Kafka takes 249 */
    TOPIC_PREFIX_SIZE_MAX = 40,           /* before each; the longest of ours has 70 */
    TOPIC_COUNT_MAX = 1024,               /* names come from roles, not from clients */
    TOPIC_PARTITION_COUNT_MAX = 256,      /* each is a directory, and a slot of every group */
    TOPIC_KEY_SIZE_MAX = 4 << 10,         /* with value and headers below Kafka's 1 MB message */
    TOPIC_VALUE_SIZE_MAX = 960 << 10,     /* an offer of 100 KB and all made from it */
    TOPIC_HEADER_COUNT_MAX = 16,          /* a request id, a trace: not a second value */
    TOPIC_HEADERS_SIZE_MAX = 4 << 10,     /* names and values of one record together */
    TOPIC_BATCH_COUNT_MAX = 10000,        /* records of one produce call */
    TOPIC_BATCH_SIZE_MAX = 16 << 20,      /* bytes of one produce call */
    TOPIC_INFLIGHT_SIZE_MAX = 64 << 20,   /* produced, not yet durable; more producers wait */
    TOPIC_COMMIT_SIZE_MAX = 8 << 20,      /* written before one sync: bounds the wait for it */
    TOPIC_FRAME_SIZE_MAX = 1 << 20,       /* one checksum; the least a reader must hold */
    TOPIC_SEGMENT_SIZE = 64 << 20,        /* retention deletes, and a crash rereads, one of these */
    TOPIC_SEGMENT_SIZE_MIN = 64 << 10,    /* below, names cost more than data */
    TOPIC_OFFSETS_SEGMENT_SIZE = 1 << 20, /* of the log of committed offsets: compacted past it */
    TOPIC_WRITER_COUNT = 4,               /* threads that sync; a partition belongs to one */
    TOPIC_GROUP_COUNT_MAX = 256,
    TOPIC_MEMBER_COUNT_MAX = 256, /* of one group */
    TOPIC_SUBSCRIPTION_MAX = 32,  /* topics of one consumer */
    TOPIC_POLL_COUNT = 500,       /* records of one poll, unless the consumer says */
    TOPIC_POLL_COUNT_MAX = 10000,
    TOPIC_POLL_SIZE = 4 << 20,     /* bytes of one poll */
    TOPIC_WAIT_MS_MAX = 60 * 1000, /* longest a poll or read waits */
    TOPIC_SESSION_MS = 30 * 1000,  /* a member silent for longer loses its partitions */
    TOPIC_HOUSEKEEPING_MS = 1000,  /* retention and silent members are looked at this often */
    TOPIC_RETAIN_SEGMENT_MAX = 64, /* deleted from one partition in one round */
    TOPIC_HEAL_MS = 1000,          /* a partition that failed to write is tried again after this */
    TOPIC_REMOVE_MS = 15000,       /* then a topic that is in use all the time is not removed */
    TOPIC_KAFKA_DELIVERY_MS = 30000, /* then a produce to Kafka is told to have failed */
    /* ---- model: topics between stages, when they have to be made ---- */
    STAGE_PARTITION_COUNT = 8,         /* readers that share the work of one; */
    DOCUMENTS_PARTITION_COUNT = 16,    /* ... of documents, which several clients send */
    STAGE_RETENTION_S = 7 * 24 * 3600, /* a reader stopped for longer starts from the store */
    /* ---- net: messages ---- */
    MESSAGE_DEPTH_MAX = 64,          /* messages in messages: bounds recursion, ours and clients' */
    MESSAGE_UNKNOWN_COUNT_MAX = 256, /* a newer client has a few; a flood of them is an attack */
    MESSAGE_MEMORY_MAX = 32 << 20,   /* decoded: three wire bytes can ask for 400 of memory */
    JSON_NUMBER_SIZE_MAX = 400,      /* a double written out in full has 310 digits */
    JSON_TYPE_COUNT_MAX = 4096,      /* message types linked in; each is prepared once */

    /* ---- net: services and client ---- */
    HEALTH_SERVICE_COUNT_MAX = 64,
    HEALTH_WATCH_POLL_MS = 250, /* how soon a watch sees that its client has left */
    HTTP_CLIENT_TIMEOUT_MS = 30 * 1000,
    HTTP_CLIENT_CONNECT_TIMEOUT_MS = 5 * 1000,
    HTTP_CLIENT_RESPONSE_SIZE_MAX = 16 << 20,
    HTTP_CLIENT_HEADER_COUNT_MAX = 128, /* of one answer; as many as common servers allow */
    HTTP_CLIENT_HEADERS_SIZE_MAX = 64 << 10,
    HTTP_CLIENT_REDIRECT_COUNT_MAX = 5,
    HTTP_CLIENT_IDLE_COUNT_MAX = 32,   /* connections kept for the next request */
    DOWNLOAD_TIMEOUT_MS = 3600 * 1000, /* 4 GB at a megabyte a second */
    DOWNLOAD_STALL_MS = 60 * 1000,     /* shops make their feeds while one waits */
    GUNZIP_EXPANSION_MAX = 200,        /* feeds shrink 10 to 60 times; a bomb, 1000 times ... */
    GUNZIP_FREE_SIZE = 16 << 20,       /* ... and this much is not worth a question */
    RPC_STREAM_IDLE_MS = 300 * 1000,   /* nothing moved: a server may be deleting a large feed */
    /* ---- store ---- */
    STORE_PARAM_COUNT_MAX = 512, /* of a statement over many rows; arrays of them live on stacks */
    STORE_COLUMN_COUNT_MAX = 64,
    STORE_SQL_SIZE_MAX = 64 << 10,
    STORE_VALUE_SIZE_MAX = 16 << 20, /* an offer is 100 KB; bigger things belong into blob */
    STORE_STATEMENT_SET_COUNT = 32,  /* prepared statements a connection keeps: sets × ways */
    STORE_STATEMENT_WAY_COUNT = 8,
    STORE_ATTEMPT_COUNT_MAX = 60, /* runs of one transaction before ERR_CONFLICT */
    STORE_BACKOFF_MS_MAX = 50,    /* a pause between runs is random below this */
    STORE_CONNECTION_COUNT = 16,  /* default of store_options */
    STORE_CONNECTION_COUNT_MAX = 256,
    STORE_WAIT_MS_MAX = 10 * 1000, /* for a free connection */
    STORE_GROUP_COUNT_MAX = 256,   /* transactions committed together; past it latency only grows */
    STORE_GROUP_MS_MAX = 20,       /* a group is closed after this, so that slow ones delay few */
    STORE_LOCK_MS_MAX = 10 * 1000, /* another process holds SQLite's write lock */
    STORE_WAL_PAGE_COUNT = 16 << 10, /* 64 MB, default of store_options: the checkpointer starts */
    STORE_WAL_HELD_FACTOR = 4,       /* so many times that: each group waits for it… */
    STORE_WAL_HOLD_MS = 250,         /* …but no longer than this: a reader may hold the log */
    STORE_WAL_PAGE_COUNT_MAX = 1 << 20,   /* 4 GB: writes are refused until the reader lets go */
    STORE_CONNECT_S_MAX = 5,              /* PostgreSQL's server must accept within */
    STORE_STATEMENT_MS_MAX = 30 * 1000,   /* one statement there, waits for locks included */
    STORE_MIGRATION_MS_MAX = 3600 * 1000, /* one statement of a migration: an index on 50 M rows */
    STORE_MIGRATION_SIZE_MAX = 1 << 20,
    /* ---- coord ---- */
    COORD_NAME_SIZE_MAX = 64,          /* members, sets and keys: parts of paths and of log lines */
    COORD_SHARD_COUNT_MAX = 1024,      /* of one set; each costs a node and a read at a rebalance */
    COORD_SET_COUNT_MAX = 512,         /* joined by one member: one for each client, twice */
    COORD_MEMBER_COUNT_MAX = 256,      /* of one set: a machine each, by far more than planned */
    COORD_REGISTER_COUNT_MAX = 1024,   /* of the embedded backend, which keeps them in memory */
    COORD_VALUE_SIZE_MAX = 64 << 10,   /* a register is a pointer or a small state, not a file */
    COORD_LEASE_MS_MIN = 100,          /* shorter than a bad pause of the machine: endless moves */
    COORD_LEASE_MS_MAX = 60 * 1000,    /* a dead owner's shards stand still for this long */
    COORD_LEASE_MS_DEFAULT = 5 * 1000, /* default, a setting */
    COORD_OPEN_MS_MAX = 15 * 1000,     /* waiting for the first answer of a server */

    /* ---- blob ---- */
    BLOB_NAME_SIZE_MAX = 512,   /* S3 allows 1024; a directory's path stays below PATH_MAX */
    BLOB_PART_SIZE_MAX = 200,   /* between two slashes: file systems allow 255 */
    BLOB_LIST_COUNT_MAX = 1000, /* names of one page, as in S3 */
    BLOB_SIZE_MAX = 1 << 30,    /* of one blob: numerator states and cold logs are cut below it */
    BLOB_WHOLE_SIZE_MAX = 256 << 20, /* put in one call, from memory; larger ones are streamed */
    BLOB_LEFTOVER_AGE_S = 3600,      /* a temporary file older than this has no writer any more */

    /* ---- offers: feed files ---- */
    FEED_FILE_MB_MAX = 4096,               /* default of feed_options; a million offers of 4 KB */
    FEED_ROW_COUNT_MAX = 2000000,          /* default of feed_options; sellers have a million */
    FEED_BLOCK_SIZE = 64 << 10,            /* read at a time */
    FEED_ROW_SIZE_MAX = 1 << 20,           /* as written in the file; an offer has 100 KB */
    FEED_FIELD_SIZE_MAX = 200 << 10,       /* one value as written: a description with its HTML */
    FEED_TEXT_SIZE_MAX = 64 << 10,         /* a description as plain text */
    FEED_VALUE_SIZE_MAX = 4 << 10,         /* every other value, and a title */
    FEED_NAME_SIZE_MAX = 256,              /* of a tag, a column, an attribute, a category */
    FEED_ID_SIZE_MAX = 128,                /* as OFFER_EXTERNAL_ID_SIZE_MAX */
    FEED_URL_SIZE_MAX = 2048,              /* as OFFER_URL_SIZE_MAX */
    FEED_PHOTO_COUNT_MAX = 50,             /* of an offer; categories allow fewer */
    FEED_PHONE_COUNT_MAX = 5,              /* as OFFER_PHONE_COUNT_MAX */
    FEED_ATTRIBUTE_COUNT_MAX = 200,        /* of an offer */
    FEED_COLUMN_COUNT_MAX = 512,           /* of a CSV file */
    FEED_CATEGORY_COUNT_MAX = 30000,       /* of a YML file: held in memory, 12 MB at worst */
    FEED_CATEGORY_DEPTH_MAX = 16,          /* ends a walk to the root that goes in a circle */
    FEED_XML_DEPTH_MAX = 16,               /* YML has seven levels */
    FEED_XML_ATTRIBUTE_COUNT_MAX = 32,     /* of one tag; honest ones have four */
    FEED_XML_ATTRIBUTE_SIZE_MAX = 4 << 10, /* a URL */
    FEED_XML_TOKEN_SIZE_MAX = 256 << 10,   /* one tag or comment: the parser holds it whole */
    FEED_XML_MEMORY_MAX = 8 << 20,         /* of the parser, which keeps every name it has seen */
    FEED_MEMO_COUNT_MAX = 8192,            /* names of categories, attributes and options */
    FEED_MAP_SIZE_MAX = 8 << 20,           /* of a file of --categories */
    FEED_UNKNOWN_COUNT_MAX = 200,          /* names told that no category has an attribute for */
    FEED_REPORT_LINE_SIZE_MAX = 1 << 20,   /* one row with all its reasons */
    /* ---- offers: feeds applied ---- */
    FEED_KEY_SIZE_MAX = 64,       /* a feed's name; part of keys */
    FEED_BATCH_COUNT = 64,        /* rows of one transaction: others wait 5 ms for it */
    FEED_BATCH_SIZE = 1 << 20,    /* and their bytes */
    FEED_EVENT_COUNT_MAX = 1000,  /* of one SendEvents */
    FEED_DELETE_COUNT = 1000,     /* offers a task's end finds at a time */
    FEED_PROBLEM_COUNT_MAX = 30,  /* told of one row, of each kind: 90 KB at the most */
    FEED_PROBLEM_SIZE_MAX = 500,  /* bytes of one */
    FEED_REPORT_COUNT_MAX = 20,   /* tasks of a feed whose reports are kept */
    FEED_REPORT_PAGE_COUNT = 500, /* rows read at a time */
    FEED_FORGET_COUNT = 1000,     /* rows of a report removed by one transaction */
    FEED_CALL_MS_MAX = 20000,     /* a call ends or undoes a task for so long; then the worker */
    FEED_RESUME_S = 10,           /* a task that ends or is undone and was silent so long */
    FEED_POLL_COUNT = 512,        /* events of one poll: applied within the session's time */
    FEED_KEEP_COUNT = 20,         /* tasks found by one look */
    /* ---- offers ---- */
    OFFER_SIZE_MAX = 100 << 10,    /* one offer, encoded: what later stages are built for */
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
    OFFER_EMAIL_SIZE_MAX = 254,       /* as mail servers have it */
    OFFER_EXTERNAL_ID_SIZE_MAX = 128, /* a seller's article number; part of a key */
    OFFER_LIFETIME_DAYS = 30,         /* where the catalogue says nothing */
    ONCE_KEY_SIZE_MAX = 64,           /* a UUID has 36 */
    ONCE_LIFETIME_S = 24 * 3600,      /* a client that repeats later than this is not retrying */
    /* ---- registry: clients ---- */
    CLIENT_NAME_SIZE_MAX = 40,   /* part of names of topics and sets */
    CLIENT_COUNT_MAX = 256,      /* the map of all of them is one register of coord */
    CLIENT_REFRESH_MS = 1000,    /* a view is looked at again; writes confirm theirs anyway */
    CLIENT_SHARD_COUNT_MAX = 64, /* a partition and an owner each */
    /* ---- registry: documents ---- */
    DOCUMENT_BATCH_COUNT_MAX = 1000,    /* one transaction */
    DOCUMENT_PK_SIZE_MAX = 200,         /* part of keys and of hits */
    DOCUMENT_SIZE_MAX = 256 << 10,      /* encoded; refused above it, and all below is indexed */
    DOCUMENT_FIELD_COUNT_MAX = 250,     /* of one document; an offer has up to 200 attributes */
    DOCUMENT_FIELD_NAME_SIZE_MAX = 80,  /* told in errors, queries and facets */
    DOCUMENT_CLASS_SIZE_MAX = 64,       /* of placement: a category's id */
    DOCUMENT_TEXT_SIZE_MAX = 128 << 10, /* of one text or stored field */
    DOCUMENT_PATH_DEPTH_MAX = 16,       /* parts of a category's path */
    DOCUMENT_SCHEMA_COUNT_MAX = 1000,   /* fields of an epoch; the index has some of its own */
    DOCUMENT_TEXT_FIELD_COUNT_MAX = 4,  /* a shard keeps lengths of so many */
    DOCUMENT_ATTEMPT_COUNT_MAX = 20,    /* a batch outrun this often by changes of the schema */
    DOCUMENT_PACK_SIZE_MIN = 64,        /* smaller ones gain nothing, even with a dictionary */
    INTAKE_GATE_COUNT = 8,          /* clients are spread over so many, each has one transaction */
    INTAKE_COUNT_MAX = 1000,        /* documents of calls that are decided on together */
    SWEEP_CHUNK_COUNT = 200,        /* ends of documents in one transaction: 5 ms of the writer */
    SWEEP_PERIOD_MS = 1000,         /* how late an end is seen */
    SWEEP_DELAY_S = 3600,           /* a tombstone that is still needed is looked at again after */
    SWEEP_ANNOUNCE_COUNT = 30,      /* rounds after which the clients are announced once more */
    DICTIONARY_SIZE_MAX = 16 << 10, /* stays in cache; more packs no better */
    DICTIONARY_SAMPLE_SIZE = 512 << 10, /* of documents it is trained with: thirty times it */
    DICTIONARY_SAMPLE_COUNT_MAX = 4096, /* and how many at most */
    DICTIONARY_COLLECTING_MAX = 16,     /* clients whose samples are held at a time */
    /* ---- index: postings ---- */
    TEXT_SEGMENT_SIZE_MB_MAX = 32 << 10,  /* places of blocks are u32 in steps of 8 bytes */
    TEXT_BUFFER_DOC_COUNT_MAX = 32 << 10, /* versions in a buffer; then it is frozen to an image */
    TEXT_MERGE_INPUT_COUNT_MAX = 64,      /* segments of one merge; eight are usual */

    OPINION_REASON_COUNT_MAX = 20, /* of a moderator; more is not read */
    OPINION_REASON_SIZE_MAX = 500,
    OPINION_LANE_COUNT = 4,       /* threads that apply a batch of opinions: they are few */
    PHOTO_RESULT_LANE_COUNT = 32, /* and of results of photos, which are as many as offers */

    PHOTO_SIZE_COUNT_MAX = 8, /* forms of one photo; with a hundred photos the offer still fits */
    PHOTO_KEY_SIZE_MAX = 96,  /* of a blob: a hash and the form's name */
    PHOTO_HASH_SIZE_MAX = 64, /* SHA-512 */
    PHOTO_REASON_SIZE_MAX = 500, /* a sentence for the seller */

    STAGE_NAME_SIZE_MAX = 40,        /* part of a key */
    STAGE_VALUE_SIZE_MAX = 64 << 10, /* a state, not a document */

    /* ---- offers: the worker ---- */
    EXPORT_WINDOW_COUNT = 100,      /* oldest rows looked at in one shard: none starves others */
    EXPORT_DAMAGED_WINDOW_MAX = 20, /* such windows, while all in them is damaged */
    EXPORT_BATCH_COUNT = 1000,      /* changes sent before one deletion */
    EXPORT_BATCH_SIZE = 8 << 20,    /* and their bytes: a fraction of what may be in flight */
    EXPORT_PAUSE_MS = 20,    /* after a round that was not full: small rounds cost as many syncs */
    EXPORT_WAIT_MS_MIN = 5,  /* after an empty round; doubled with each … */
    EXPORT_WAIT_MS_MAX = 50, /* … up to this: the delay of a change after a quiet time */
    EXPORT_RETRY_MS_MAX = 1000, /* the same after failures, from EXPORT_WAIT_MS_MAX on */
    EXPIRY_CHUNK_COUNT = 100,   /* offers found by one read; each is a transaction */
    ONCE_CHUNK_COUNT = 1000,    /* kept answers removed by one transaction */
    DRAFT_CHUNK_COUNT = 200,    /* abandoned drafts removed by one transaction */
    KEEPING_PERIOD_MS = 1000,   /* expiry, old answers and lag are looked at this often */
    LIST_CHECK_COUNT = 500,     /* rows of one read when lists are checked: 50 MB at the most */
    RECOUNT_CHUNK_COUNT = 250,  /* offers of one transaction of a recount: 3 ms of the writer */
    COUNTERS_TELL_MS = 1000,    /* how often a check tells where it is */
    COUNTERS_TELL_COUNT = 1000, /* and after how many findings */
    /* ---- index: attributes ---- */
    EPOCH_SLOT_COUNT_MAX = 256,      /* reader threads; every reclaim looks at all of them */
    SCHEMA_FIELD_COUNT_MAX = 1024,   /* a column each: directory 16 KB, file, checkpoint */
    SCHEMA_NAME_SIZE_MAX = 100,      /* told in errors and facets */
    SCHEMA_SIZE_MAX = 1 << 20,       /* encoded */
    KEYWORD_SIZE_MAX = 1024,         /* of one value in bytes; longer is text */
    KEYWORD_COUNT_DEFAULT = 1 << 16, /* distinct values of an attribute, unless the schema says */
    KEYWORD_COUNT_MAX = 1 << 24,     /* ordinals are for ever: a runaway attribute is refused */
    KEYWORD_MASK_COUNT_MAX = 62,     /* multiple values up to this many: bits of one number */
    KEYWORD_VALUES_MAX = 64,         /* values one document may have of one attribute */
    COLUMN_CHANGE_COUNT_MAX = 1024,  /* columns set together for one document */
    COLUMN_SET_COUNT_MAX = 4,        /* indexes over one column: value set, buckets, 3 cells */
    /* ---- index: text ---- */
    TOKEN_SIZE_MAX = 96,                 /* 48 Cyrillic letters; longer words are cut to it */
    PIECE_COUNT_MAX = 64 << 10,          /* of one text: an offer has 100 KB in all */
    TOKEN_COUNT_MAX = 64 << 10,          /* what follows is not indexed; the caller is told */
    ANALYSIS_TEXT_SIZE_MAX = 1 << 20,    /* likewise */
    LEXICON_FORM_COUNT_MAX = 64 << 20,   /* about 3 GB; fifty million offers have seven million */
    LEXICON_TERM_FORM_COUNT_MAX = 65535, /* a form number has 16 bits; endings are some hundreds */
    LEXICON_FRAME_SIZE_MAX = 4 << 20,    /* one checksum of lexicon.log; held while it is read */
    LEXICON_TAIL_COUNT_MAX = 4096,       /* unsorted forms a lookup may scan before a new sort */
    LEXICON_EXPAND_COUNT_MAX = 1024,     /* terms of one prefix or fuzzy word: each is a list */
    /* ---- documents ---- */
    COMPOSER_BATCH_COUNT = 100,          /* documents of one record; default, a setting */
    COMPOSER_BATCH_COUNT_MAX = 1000,     /* as the receiver takes at once */
    COMPOSER_BATCH_MS = 20,              /* ... or so long since the last; default, a setting */
    COMPOSER_BATCH_SIZE = 512 << 10,     /* bytes of one record; a topic takes 960 KB */
    COMPOSER_WORDS_SIZE_MAX = 128 << 10, /* names of an offer's attribute values: a text field */
    COMPOSER_VALUE_SIZE_MAX = 200,       /* free text as a value to choose by */
    COMPOSER_VALUE_COUNT_MAX = 1 << 20,  /* different ones of an attribute */
    COMPOSER_SELLER_COUNT_MAX = 1 << 22,
    COMPOSER_SURE_MS = 2000, /* a catalogue is used so long after the store was asked; it is asked
                                each second */
    RECOMPOSE_SETTLE_MS =
        2500,                  /* after that nobody uses an older one: a quarter more, for clocks */
    RECOMPOSE_RETRY_MS = 1000, /* after a fault */
    RECOMPOSE_LOOK_MS = 200,   /* how soon another catalogue is noticed */
    RECOMPOSE_TAKEN_MS = 5,    /* how often the receiver is asked whether it has taken a page */
    RECOMPOSE_PAGE_COUNT = 250, /* offers on their way at a time: what a live change may wait for */
    RECOMPOSE_RECENT_S = 10,    /* so new a change may still be under way in the lane main */
    RECOMPOSE_STEP_COUNT = 64,  /* versions of the catalogue caught up with at a time */
    /* ---- search ---- */
    SEARCH_DEADLINE_MS = 3000,  /* unless the caller wants it sooner */
    SEARCH_TEXT_SIZE_MAX = 400, /* a line somebody typed */
    SEARCH_PAGE_COUNT = 20,     /* offers of a page, unless the request says */
    SEARCH_PAGE_COUNT_MAX = 100,
    SEARCH_FILTER_COUNT_MAX = 50,   /* chosen by a buyer */
    SEARCH_VALUE_COUNT_MAX = 200,   /* of one filter */
    SEARCH_OFFERED_COUNT_MAX = 24,  /* filters of attributes that are offered: a screen or two */
    SEARCH_FACET_VALUE_COUNT = 100, /* values of a filter that are offered */
    SEARCH_TREE_COUNT = 2000,       /* categories that are counted */
    SEARCH_CATEGORY_COUNT = 50,     /* of them told to the page */
    SEARCH_FRAGMENT_SIZE = 160,     /* of a description, with the words marked */
    SEARCH_SHARE_MIN_PERCENT = 50,  /* of the hits have the attribute: its filter is offered */
    SUGGEST_COUNT = 8,              /* lines, unless the request says */
    SUGGEST_COUNT_MAX = 20,
    SUGGEST_CATEGORY_COUNT = 5,
    SUGGEST_WORD_COUNT = 64,   /* that the last one may become, the most frequent: a list each */
    SUGGEST_TITLE_COUNT = 100, /* titles that are read: a millisecond */
    SUGGEST_CANDIDATE_COUNT_MAX = 1024, /* beginnings, one to three words, of those titles */
    SIMILAR_COUNT = 10,                 /* offers, unless the request says */
    SIMILAR_COUNT_MAX = 50,
    SIMILAR_RERANK_COUNT = 200,   /* of the most alike, whose price is looked at */
    SPELL_LEARNT_COUNT = 1 << 20, /* texts known to be learnt: 32 MB with those before them */
    SPELL_READ_COUNT = 500,       /* records of one read */
    SPELL_IDLE_MS = 200,          /* how soon a new title is looked for */
    SPELL_RETRY_MS = 2000,        /* after a fault of the topic or the disk */
    SPELL_SAVE_S = 60,            /* what a crash may have to learn again */
    SPELL_RECOUNT_S = 6 * 3600,   /* words of offers that are gone are known for so long */
    SPELL_RECOUNT_WAIT_S = 600,   /* after a start: an index that is being filled is not counted */
    /* ---- query ---- */
    QUERY_STAGE_COUNT_MAX = 8,             /* of one request */
    QUERY_FILTER_DEPTH_MAX = 16,           /* and, or, not inside each other */
    QUERY_FILTER_COUNT_MAX = 1024,         /* nodes of a filter */
    QUERY_FILTER_VALUE_COUNT_MAX = 4096,   /* values of one "in" */
    QUERY_FILTER_NAME_COUNT_MAX = 1 << 16, /* combinations of values whose answer is remembered */
    QUERY_FACET_COUNT_MAX = 64,            /* of one stage */
    QUERY_FACET_BOUND_COUNT_MAX = 33,      /* 32 ranges */
    QUERY_FACET_VALUE_COUNT_MAX = 10000,   /* values of one facet that are answered */
    QUERY_FACET_PART_COUNT_MAX = 65536,    /* of one shard, to be merged with others' */
    QUERY_FACET_NAME_COUNT_MAX = 1 << 18, /* combinations of values counted by name: 1 MB a facet */
    QUERY_HIT_COUNT_MAX = 10000,          /* offset and limit together: go on by the cursor */
    QUERY_FORMULA_SIZE_MAX = 2048,        /* bytes */
    QUERY_FORMULA_STEP_COUNT_MAX = 256,   /* operations of one formula */
    QUERY_FORMULA_DEPTH_MAX = 32,         /* values at hand at once, and brackets */
    QUERY_RERANK_COUNT_MAX = 10000,
    QUERY_CAP_COLLECT_MAX = 1 << 20,     /* hits looked at to fill a page under a cap: 48 MB */
    QUERY_CURSOR_SIZE_MAX = 256 << 10,   /* words and places of many shards */
    QUERY_CURSOR_TEXT_SIZE_MAX = 400,    /* of a corrected line: as SEARCH_TEXT_SIZE_MAX */
    QUERY_CURSOR_PLACE_COUNT_MAX = 2048, /* two a shard: as SEARCHER_SHARD_COUNT_MAX */
    QUERY_SHOWN_SIZE_MAX = 32 << 20,     /* fields of all hits of an answer; a reply has 64 MB */
    QUERY_HASHED_SIZE_MAX = 16 << 20,    /* of a query, laid out for its hash */
    QUERY_MEMORY_KEPT_MAX = 1 << 20,     /* from one query of a thread to its next */
    /* ---- query: text ---- */
    QUERY_TEXT_SIZE_MAX = 8 << 10,    /* of one clause or line: nobody types more */
    QUERY_TEXT_CLAUSE_COUNT_MAX = 64, /* words and phrases; each is looked at for each document */
    QUERY_TEXT_WORD_COUNT_MAX = 4096, /* with all that prefixes and misspelt words may mean */
    TEXT_SPARSE_SPAN = 512,           /* a list of fewer than one in so many ids goes by ids */
    HIGHLIGHT_SOURCE_SIZE_MAX = 1 << 20, /* as ANALYSIS_TEXT_SIZE_MAX */
    HIGHLIGHT_FRAGMENT_COUNT_MAX = 32,
    HIGHLIGHT_SIGN_SIZE_MAX = 64, /* bytes put before and behind a word: a tag with a class */
    HIGHLIGHT_MARK_COUNT_MAX =
        4096, /* words marked in one text, 0.5 MB of signs; nobody sees more */
    HIGHLIGHT_TRIED_COUNT_MAX = 200, /* fragments weighed for one: a text may be marked all over */
    /* ---- spell ---- */
    SPELL_TEXT_SIZE_MAX = 8 << 10,       /* of a query, as QUERY_TEXT_SIZE_MAX */
    SPELL_LEARN_SIZE_MAX = 256 << 10,    /* of one title or value */
    SPELL_WORD_SIZE_MAX = 32,            /* letters; longer ones are not anybody's words */
    SPELL_WORD_COUNT_MAX = 1 << 20,      /* base and live: 300 MB; further words are not learnt */
    SPELL_PAIR_COUNT_MAX = 2 << 20,      /* 32 MB; then rare pairs are forgotten */
    SPELL_NEAR_COUNT_MAX = 2048,         /* words within two edits that are looked at */
    SPELL_CANDIDATE_COUNT_MAX = 16,      /* meanings of a word that are weighed in its context */
    SPELL_WINDOW_COUNT_MAX = 32,         /* words weighed together; a longer text goes in steps */
    SPELL_SNAPSHOT_SIZE_MAX = 128 << 20, /* all words and pairs at their limits take 60 MB */
    /* ---- registry: the indexer ---- */
    INDEXER_BATCH_COUNT = 1000,      /* elements of one round, all lanes */
    INDEXER_BATCH_SIZE = 8 << 20,    /* their documents as they are kept, packed */
    INDEXER_BATCH_MEMORY = 64 << 20, /* and unpacked, converted */
    INDEXER_SEND_SIZE = 8 << 20,     /* of one produce: half of what a topic takes */
    INDEXER_FAILED_COUNT = 100,      /* elements of a round that failed before */
    INDEXER_MAIN_COUNT_MIN = 100,    /* main's part of a full round, whatever the weights */
    INDEXER_BACKFILL_MS = 50,        /* a backfill's part of a round, while main has little */
    INDEXER_BACKFILL_COUNT_MIN = 20, /* and at the least so many, or it never ends */
    INDEXER_LATE_MS = 500,           /* main is later than this: backfill waits */
    INDEXER_MARK_MS = 50,            /* how often it is noted how far main is filled ... */
    INDEXER_MARK_COUNT = 16,         /* ... and how many such notes are kept */
    INDEXER_ITEM_US = 200,           /* an element, before any was measured */
    INDEXER_PENDING_COUNT = 4000,    /* sent elements whose offsets are not moved yet ... */
    INDEXER_PENDING_MS = 200,        /* ... and for how long: what a crash sends again */
    INDEXER_TRIM_COUNT = 20000,      /* elements removed by one transaction: all that is pending */
    INDEXER_SWEEP_COUNT = 500,       /* numbers taken off dead keys by one transaction */
    INDEXER_SWEEP_MS = 10 * 1000,    /* how often they are looked for */
    INDEXER_PAUSE_MS = 5,            /* between rounds that are not full: each costs a sync */
    INDEXER_WAIT_MS_MIN = 5,         /* after a round that found nothing; doubled with each ... */
    INDEXER_WAIT_MS_MAX = 50,        /* ... up to this: how late writers elsewhere are seen */
    INDEXER_RETRY_MS_MAX = 2000,     /* the same after failures */
    INDEXER_KEEPING_MS = 200,        /* new clients, shards gained and lost */
    INDEXER_LAG_MS = 1000,           /* how often the lag is measured */
    INDEXER_RETIRED_MS = 600 * 1000, /* how often topics of retired epochs are looked for */
    INDEXER_THREAD_COUNT_MAX = 64,
    FAILED_PAUSE_MS_MIN = 1000,       /* before the second try; doubled with each ... */
    FAILED_PAUSE_MS_MAX = 600 * 1000, /* ... up to this */
    FAILED_PAGE_COUNT = 50,           /* of one answer, unless said */
    FAILED_PAGE_COUNT_MAX = 1000,
    FAILED_REPLAY_COUNT = 1000, /* replayed by one transaction */
    POUR_COUNT = 250,           /* stored documents put into a backfill at once: some 10 ms */
    POUR_LANE_COUNT_MAX = 2000, /* elements of the lane; then it is waited for */
    POUR_BUSY_MS = 500,         /* main has more all the time: so often nevertheless */
    PLAN_COUNT = 5000,          /* documents checked by one call of a plan ... */
    PLAN_PAGE_COUNT = 250,      /* ... read so many at a time */
    PLAN_REASON_COUNT_MAX = 50, /* different reasons that are told */
    PLAN_SAMPLE_COUNT = 5,      /* documents named for each */
    /* ---- index: shard ---- */
    SHARD_SEGMENT_COUNT_MAX = 40,  /* parts of a snapshot; then applying waits for merges */
    SHARD_MERGE_COUNT = 8,         /* segments of about one size are merged into one */
    SHARD_MERGE_WINDOW_COUNT = 64, /* owners rewritten in one step: 0.2 ms */
    SHARD_WAIT_MS_MAX = 60 * 1000, /* applying waits this long for merges, then fails */
    SHARD_CHECKPOINT_CHANGE_COUNT = 250 * 1000, /* some seconds of replay */
    SHARD_NOTE_SIZE_MAX = 256,                  /* of the caller: a ticket, places in some lanes */
    SHARD_LIVE_SIZE_MAX = 1 << 30,         /* of one checkpoint: a bit a document and segment */
    SHARD_PENDING_COUNT_MAX = 1 << 16,     /* documents replaced by one publication: 8 MB or so */
    SHARD_PENDING_SIZE_KEPT_MAX = 1 << 20, /* of their values, from one batch to the next */
    SHARD_HOLD_MS_MAX = 200,               /* a publication waits for queries that run once more */
    SHARD_HOLD_WAIT_MS_MAX = 500,          /* such a query waits for a publication that is due */
    STORED_CHUNK_SIZE = 1 << 20,           /* written at once; no record lies across two */
    STORED_FILE_SIZE = 64 << 20,           /* half of one dead: it is written anew */
    STORED_FILE_COUNT_MAX = 4096,          /* 256 GB */
    STORED_RECORD_SIZE_MAX = 768 << 10,    /* texts and stored fields of one document */
    STORED_DICTIONARY_SIZE = 16 << 10,     /* stays in cache; four times more packs no better */
    STORED_SAMPLE_SIZE = 2 << 20,          /* of records a dictionary is trained with */
    STORED_PACK_SIZE_MIN = 256,            /* smaller records are kept as they are */
    /* ---- numerator ---- */
    NUMBER_EXTENT_SIZE = 4096,      /* numbers of a placement class that lie together: a window */
    NUMBER_CLASS_COUNT_MAX = 256,   /* of a shard: each may leave most of an extent empty */
    NUMBER_CLASS_SIZE_MAX = 64,     /* bytes of a class's name: what documents may say */
    NUMBER_KEY_SIZE_MAX = 1024,     /* bytes: four parts of a pk's size, and some */
    NUMBER_ID_END = 1 << 30,        /* numbers of a shard: the index has columns by position */
    NUMBER_SHARD_COUNT_MAX = 4096,  /* of a collection; a topic has 256 partitions */
    NUMBER_STATE_KEY_MAX = 1 << 30, /* keys of one state */
    NUMBER_BLOCK_SIZE = 256 << 10,  /* of a state's file: what one checksum covers */
    NUMBER_LOAD_COUNT = 2000,       /* rows of one read when what is free is loaded */
    /* ---- searcher: arrivals ---- */
    SEARCHER_ARRIVAL_COUNT = 1 << 15, /* documents whose times are kept, of a shard: half a MB */
    SEARCHER_SHOWING_COUNT = 1 << 13, /* moments of showing: a minute or so under load */
    /* ---- inspect ---- */
    VERIFY_ROW_COUNT = 200,            /* rows of one step of a check: 20 MB at the most */
    VERIFY_REBUILD_COUNT = 500,        /* the same of a rebuild, each of which is let go at once */
    VERIFY_FINDING_COUNT_MAX = 100,    /* of one step; all are counted */
    VERIFY_SETTLE_MS = 10 * 1000,      /* changes on their way have got there by then */
    VERIFY_SETTLE_MS_MAX = 20 * 1000,  /* a caller waits 30 s for an answer */
    VERIFY_REQUEST_SIZE_MAX = 4 << 10, /* to another searcher: names and numbers */
    VERIFY_PEER_MS = 25 * 1000,        /* for its answer; less than a caller waits */
    FRESHNESS_WAIT_S_MAX = 30,         /* for a change, at most; a caller waits so long */
    FRESHNESS_WAITER_COUNT_MAX = 16,   /* of them at once: they hold threads that others want */
    FRESHNESS_PAUSE_MS_MIN = 4,        /* between two looks, growing: most changes take 20 ms ... */
    FRESHNESS_PAUSE_MS_MAX = 50,       /* ... and the others cost twenty looks a second */
    FRESHNESS_LOOK_COUNT = 10000,      /* elements of a lane that a public call looks through */
    TRACE_RECORD_COUNT = 500,          /* newest of a topic in which a trace looks for an offer */
    REBUILD_IDLE_MS = 60 * 1000,       /* a rebuild whose caller has gone holds a shard's memory */

    /* ---- inspect: the pipeline ---- */
    PIPELINE_FRESH_MS = 500,         /* what was read is told again: many consoles cost as one */
    PIPELINE_STALE_MS = 5 * 1000,    /* the same to those who come while it is read anew */
    PIPELINE_STILL_MS = 10 * 1000,   /* work that waits and does not move for so long is stuck */
    PIPELINE_NUMBERS_MS = 10 * 1000, /* counting numbers is the dearest part: done so often */
    PIPELINE_SHARD_COUNT_MAX = 256,  /* of all clients: some 2000 short questions a reading */
    PIPELINE_FEED_COUNT = 50,        /* busy feeds told */
    PIPELINE_AGE_COUNT = 4,          /* partitions whose first waiting record is read */
    PIPELINE_SIZE_MAX = 4 << 20,     /* of an answer: 256 shards and 50 feeds are some 100 KB */
    NUMBER_COUNT_MAX = 100000,       /* numbers counted for those who look: some milliseconds */

    /* ---- feeds: ImportFile ---- */
    FEED_CALL_FILE_SIZE_MAX = 256 << 20, /* unpacked: it holds a thread that works for calls */
    FEED_CALL_ROW_COUNT_MAX = 200000,    /* likewise; a minute or two */
    FEED_CALL_FILE_COUNT_MAX = 8,        /* at a time; most threads stay for other calls */

    /* ---- searcher ---- */
    SEARCHER_BATCH_COUNT = 64,            /* messages shown together, when they trickle ... */
    SEARCHER_BATCH_MS = 2,                /* ... or what came within this time */
    SEARCHER_REPLAY_COUNT = 2000,         /* shown together while far behind */
    SEARCHER_REPLICA_COUNT_MAX = 256,     /* shards in one process: a thread each, and one more */
    SEARCHER_SHARD_COUNT_MAX = 1024,      /* of a client */
    SEARCHER_CLIENT_SIZE_MAX = 40,        /* of a client's name */
    SEARCHER_MAP_SIZE_MAX = 1 << 20,      /* of the index map */
    SEARCHER_CHECKPOINT_MS = 600 * 1000,  /* of shards that change little */
    SEARCHER_DEADLINE_MS = 1000,          /* of a search, unless it says */
    SEARCHER_DEADLINE_MS_MAX = 60 * 1000, /* of a search that does */
    SEARCHER_WAIT_COUNT_MAX = 100,        /* tokens of writes that one search waits for */
    SEARCHER_WAITER_COUNT_MAX = 16,       /* callers who wait at once: a quarter of the threads */
    SEARCHER_LIST_COUNT = 1000,           /* documents listed, unless the call says */
    SEARCHER_LIST_COUNT_MAX = 10000,      /* when it does */
    SEARCHER_PEER_COUNT_MAX = 32,         /* other searchers that a front knows */
    SEARCHER_PEER_POLL_MS = 1000,         /* how often they are asked for their freshness */
    SEARCHER_HEDGE_MS_MIN = 20,           /* a second replica is asked no sooner than this */
    SEARCHER_ANSWER_SIZE_MAX = 64 << 20,  /* of a shard in another process */
    SEARCHER_ASK_COUNT_MAX = 64,          /* shards asked at once by one process */
    SEARCHER_ASK_QUEUE_MAX = 4096,        /* and those that wait for that */
    /* ---- demo ---- */
    DEMO_OFFER_COUNT = 20000,       /* as many as fill a shop, and a minute at the most */
    DEMO_OFFER_COUNT_MAX = 1000000, /* filled in minutes, some gigabytes */
    DEMO_CHANGE_RATE = 5,           /* changes a second: a console that lives, a machine at rest */
    DEMO_CHANGE_RATE_MAX = 1000,
    DEMO_RETRY_MS = 500,        /* after a failure of the store or the topics */
    DEMO_POLL_MS = 200,         /* how soon a stop is seen */
    DEMO_FILLER_COUNT = 32,     /* threads that publish: each group of commits has as many */
    DEMO_STALL_S = 60,          /* nothing becomes searchable for so long: go on without */
    DEMO_STATE_SIZE_MAX = 4096, /* of the file DEMO */
    DEMO_PICTURE_SIZE_MAX = 16 << 10,
    DEMO_PICTURE_VARIANT_COUNT = 5, /* of a kind and colour: each is a file to be synced */
    DEMO_DEPTH_MAX = 16,            /* of templates and formulas in each other */
    DEMO_VARIABLE_COUNT_MAX = 64,   /* of one kind */
    DEMO_COLUMN_COUNT_MAX = 16,
    DEMO_CHOICE_COUNT_MAX = 64,
    DEMO_PLACE_COUNT_MAX = 24, /* of a city */
    DEMO_WEIGHT_MAX = 1000,
    DEMO_TEXT_SIZE_MAX = 8 << 10,
};

#endif
