// SPDX-License-Identifier: Apache-2.0
//! Tantivy as a peer of bench core: docs/core-bench.md has the line protocol. Queries run on the
//! main thread; changes are applied by a second one, committed and shown once a second.
use std::collections::HashMap;
use std::error::Error;
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::ops::Bound;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;
use std::thread::{sleep, spawn, JoinHandle};
use std::time::{Duration, Instant};

use tantivy::aggregation::agg_req::Aggregations;
use tantivy::aggregation::{AggContextParams, AggregationCollector};
use tantivy::collector::{Count, TopDocs};
use tantivy::columnar::Column;
use tantivy::query::{
    AllQuery, BooleanQuery, BoostQuery, ConstScoreQuery, Occur, PhraseQuery, Query, RangeQuery,
    TermQuery,
};
use tantivy::schema::{
    Field, IndexRecordOption, Schema, TextFieldIndexing, TextOptions, FAST, INDEXED, STRING,
};
use tantivy::tokenizer::{
    Language, LowerCaser, SimpleTokenizer, Stemmer, TextAnalyzer, WhitespaceTokenizer,
};
use tantivy::{
    DocAddress, Index, IndexReader, IndexWriter, Order, ReloadPolicy, Searcher, TantivyDocument,
    Term,
};

type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

const WRITER_MEMORY: usize = 256 << 20;
const TITLE_WEIGHT: f32 = 2.0;
const REFRESH: Duration = Duration::from_secs(1);
const BATCH: usize = 50; // changes between two looks at the clock

#[derive(Clone)]
struct Fields {
    id: Field,
    title: Field,
    text: Field,
    path: Field,
    category: Field,
    brand: Field,
    city: Field,
    seller: Field,
    price: Field,
    date: Field,
    condition: Field,
    delivery: Field,
    rank: Field,
}

fn text_options(tokenizer: &str) -> TextOptions {
    TextOptions::default().set_indexing_options(
        TextFieldIndexing::default()
            .set_tokenizer(tokenizer)
            .set_index_option(IndexRecordOption::WithFreqsAndPositions),
    )
}

fn schema(tokenizer: &str) -> Schema {
    let mut builder = Schema::builder();
    builder.add_u64_field("id", INDEXED | FAST);
    builder.add_text_field("title", text_options(tokenizer));
    builder.add_text_field("text", text_options(tokenizer));
    builder.add_text_field("path", STRING);
    for name in ["category", "brand", "city", "seller"] {
        builder.add_text_field(name, STRING | FAST);
    }
    builder.add_u64_field("price", INDEXED | FAST);
    builder.add_u64_field("date", INDEXED | FAST);
    builder.add_text_field("condition", STRING | FAST);
    builder.add_text_field("delivery", STRING | FAST);
    builder.add_u64_field("rank", FAST);
    builder.build()
}

impl Fields {
    fn of(schema: &Schema) -> Result<Fields> {
        Ok(Fields {
            id: schema.get_field("id")?,
            title: schema.get_field("title")?,
            text: schema.get_field("text")?,
            path: schema.get_field("path")?,
            category: schema.get_field("category")?,
            brand: schema.get_field("brand")?,
            city: schema.get_field("city")?,
            seller: schema.get_field("seller")?,
            price: schema.get_field("price")?,
            date: schema.get_field("date")?,
            condition: schema.get_field("condition")?,
            delivery: schema.get_field("delivery")?,
            rank: schema.get_field("rank")?,
        })
    }

    /// The document of a line: id title text category brand city seller price date condition ...
    fn document(&self, line: &str, rank: u64) -> Result<(u64, TantivyDocument)> {
        let part: Vec<&str> = line.split('\t').collect();
        let id: u64 = part[0].parse()?;
        let mut doc = TantivyDocument::default();
        doc.add_u64(self.id, id);
        doc.add_text(self.title, part[1]);
        doc.add_text(self.text, part[2]);
        let path = part[3];
        for (at, _) in path.match_indices('/') {
            doc.add_text(self.path, &path[..at]);
        }
        doc.add_text(self.path, path);
        doc.add_text(self.category, path);
        doc.add_text(self.brand, part[4]);
        doc.add_text(self.city, part[5]);
        doc.add_text(self.seller, part[6]);
        doc.add_u64(self.price, part[7].parse()?);
        doc.add_u64(self.date, part[8].parse()?);
        doc.add_text(self.condition, part[9]);
        doc.add_text(self.delivery, part[10]);
        doc.add_u64(self.rank, rank);
        Ok((id, doc))
    }
}

fn register(index: &Index) {
    index.tokenizers().register(
        "tokens",
        TextAnalyzer::builder(WhitespaceTokenizer::default()).build(),
    );
    index.tokenizers().register(
        "own",
        TextAnalyzer::builder(SimpleTokenizer::default())
            .filter(LowerCaser)
            .filter(Stemmer::new(Language::Russian))
            .filter(Stemmer::new(Language::English))
            .build(),
    );
}

fn index(dir: &str, corpus: &str, analysis: &str, limit: usize) -> Result<String> {
    let start = Instant::now();
    std::fs::create_dir_all(dir)?;
    let index = Index::create_in_dir(dir, schema(analysis))?;
    register(&index);
    let fields = Fields::of(&index.schema())?;
    let mut writer: IndexWriter = index.writer_with_num_threads(1, WRITER_MEMORY)?;
    let mut count = 0;
    for line in BufReader::with_capacity(1 << 20, File::open(corpus)?).lines().take(limit) {
        writer.add_document(fields.document(&line?, 0)?.1)?;
        count += 1;
    }
    writer.commit()?;
    writer.wait_merging_threads()?;
    let segments = index.searchable_segment_ids()?.len();
    Ok(format!("documents={count}\tns={}\tsegments={segments}", start.elapsed().as_nanos()))
}

struct Open {
    index: Index,
    reader: IndexReader,
    fields: Fields,
    ids: Vec<Column<u64>>, // by segment, of the searcher with this generation
    generation: u64,
    searcher: Searcher,
    facets: HashMap<String, Aggregations>,
    changes: Option<JoinHandle<Result<u64>>>,
    applied: Arc<AtomicU64>,
    started: Instant,
}

impl Open {
    fn new(dir: &str) -> Result<Open> {
        let index = Index::open_in_dir(dir)?;
        register(&index);
        let fields = Fields::of(&index.schema())?;
        let reader = index.reader_builder().reload_policy(ReloadPolicy::Manual).try_into()?;
        let searcher = reader.searcher();
        let mut open = Open {
            index,
            reader,
            fields,
            ids: Vec::new(),
            generation: u64::MAX,
            searcher,
            facets: HashMap::new(),
            changes: None,
            applied: Arc::new(AtomicU64::new(0)),
            started: Instant::now(),
        };
        open.refresh()?;
        Ok(open)
    }

    /// Takes the newest searcher; columns of ids are opened once for each.
    fn refresh(&mut self) -> Result<()> {
        let searcher = self.reader.searcher();
        if searcher.generation().generation_id() == self.generation {
            return Ok(());
        }
        self.generation = searcher.generation().generation_id();
        self.ids.clear();
        for segment in searcher.segment_readers() {
            self.ids.push(segment.fast_fields().u64("id")?);
        }
        self.searcher = searcher;
        Ok(())
    }

    fn id(&self, address: DocAddress) -> u64 {
        self.ids[address.segment_ord as usize].first(address.doc_id).unwrap_or(u64::MAX)
    }

    fn word(&self, field: Field, word: &str) -> Box<dyn Query> {
        let term = Term::from_field_text(field, word);
        let query = TermQuery::new(term, IndexRecordOption::WithFreqs);
        self.weighted(field, Box::new(query))
    }

    fn weighted(&self, field: Field, query: Box<dyn Query>) -> Box<dyn Query> {
        if field == self.fields.title {
            Box::new(BoostQuery::new(query, TITLE_WEIGHT))
        } else {
            query
        }
    }

    fn text_query(&self, ask: &Ask) -> Option<Box<dyn Query>> {
        let words: Vec<&str> = ask.get("words").split(' ').filter(|w| !w.is_empty()).collect();
        let fields: &[Field] = match ask.get("fields") {
            "text" => &[self.fields.text],
            _ => &[self.fields.title, self.fields.text],
        };
        let mut clauses: Vec<(Occur, Box<dyn Query>)> = Vec::new();
        match ask.get("op") {
            "and" => {
                for word in words {
                    let mut any: Vec<(Occur, Box<dyn Query>)> = Vec::new();
                    for field in fields {
                        any.push((Occur::Should, self.word(*field, word)));
                    }
                    let query = match any.len() {
                        1 => any.remove(0).1,
                        _ => Box::new(BooleanQuery::new(any)),
                    };
                    clauses.push((Occur::Must, query));
                }
            }
            "or" => {
                for word in words {
                    for field in fields {
                        clauses.push((Occur::Should, self.word(*field, word)));
                    }
                }
            }
            "phrase" => {
                for field in fields {
                    let terms =
                        words.iter().map(|w| Term::from_field_text(*field, w)).collect();
                    let query = Box::new(PhraseQuery::new(terms));
                    clauses.push((Occur::Should, self.weighted(*field, query)));
                }
            }
            _ => return None,
        }
        Some(match clauses.len() {
            1 => clauses.remove(0).1,
            _ => Box::new(BooleanQuery::new(clauses)),
        })
    }

    fn keyword(&self, field: Field, value: &str) -> Box<dyn Query> {
        let term = Term::from_field_text(field, value);
        Box::new(ConstScoreQuery::new(
            Box::new(TermQuery::new(term, IndexRecordOption::Basic)),
            0.0,
        ))
    }

    fn query(&self, ask: &Ask) -> Result<Box<dyn Query>> {
        let mut clauses: Vec<(Occur, Box<dyn Query>)> = Vec::new();
        if let Some(text) = self.text_query(ask) {
            clauses.push((Occur::Must, text));
        }
        if !ask.get("category").is_empty() {
            clauses.push((Occur::Must, self.keyword(self.fields.path, ask.get("category"))));
        }
        if !ask.get("condition").is_empty() {
            clauses
                .push((Occur::Must, self.keyword(self.fields.condition, ask.get("condition"))));
        }
        if let Some((low, high)) = ask.get("price").split_once("..") {
            let bound = |text: &str| -> Result<Bound<Term>> {
                Ok(Bound::Included(Term::from_field_u64(self.fields.price, text.parse()?)))
            };
            let range = RangeQuery::new(bound(low)?, bound(high)?);
            clauses.push((Occur::Must, Box::new(ConstScoreQuery::new(Box::new(range), 0.0))));
        }
        Ok(match clauses.len() {
            0 => Box::new(AllQuery),
            1 => clauses.remove(0).1,
            _ => Box::new(BooleanQuery::new(clauses)),
        })
    }

    fn facets(&mut self, names: &str) -> Result<Aggregations> {
        if !self.facets.contains_key(names) {
            let mut request = serde_json::Map::new();
            for name in names.split(',') {
                // segment_size above the number of values: exact counts, as everybody gives.
                let terms = serde_json::json!({"field": name, "size": 10, "segment_size": 4000});
                request.insert(name.to_string(), serde_json::json!({ "terms": terms }));
            }
            let made = serde_json::from_value(serde_json::Value::Object(request))?;
            self.facets.insert(names.to_string(), made);
        }
        Ok(self.facets[names].clone())
    }

    fn answer(&mut self, ask: &Ask) -> Result<String> {
        let start = Instant::now();
        self.refresh()?;
        let query = self.query(ask)?;
        let top: usize = ask.get("top").parse().unwrap_or(0);
        let want_total = ask.get("total") == "1";
        let mut total = None;
        let mut found = None;
        let hits: Vec<(f64, DocAddress)>;
        if !ask.get("facets").is_empty() {
            let request = self.facets(ask.get("facets"))?;
            let context =
                AggContextParams::new(Default::default(), self.index.tokenizers().clone());
            let facets = AggregationCollector::from_aggs(request, context);
            let (name, order) = sort_of(ask);
            let sorted = TopDocs::with_limit(top).order_by_fast_field::<u64>(name, order);
            let (docs, count, counted) = self.searcher.search(&query, &(sorted, Count, facets))?;
            hits = docs.into_iter().map(|(k, a)| (k.unwrap_or(0) as f64, a)).collect();
            total = Some(count);
            found = Some(counted);
        } else if top == 0 {
            total = Some(self.searcher.search(&query, &Count)?);
            hits = Vec::new();
        } else {
            let best = TopDocs::with_limit(top).order_by_score();
            let docs = if want_total {
                let (docs, count) = self.searcher.search(&query, &(best, Count))?;
                total = Some(count);
                docs
            } else {
                self.searcher.search(&query, &best)?
            };
            hits = docs.into_iter().map(|(score, a)| (f64::from(score), a)).collect();
        }
        let ids: Vec<(u64, f64)> = hits.iter().map(|(key, a)| (self.id(*a), *key)).collect();
        let ns = start.elapsed().as_nanos();
        let mut line = format!("ns={ns}");
        if let Some(total) = total {
            line += &format!("\ttotal={total}");
        }
        let hits: Vec<String> = ids.iter().map(|(id, key)| format!("{id}:{key}")).collect();
        line += &format!("\thits={}", hits.join(","));
        if let Some(found) = found {
            line += &format!("\tfacets={}", facets_text(&serde_json::to_value(found)?));
        }
        Ok(line)
    }

    /// Begins to apply the file's changes, so many a second; 0: as fast as it can. Ends after the
    /// time, whether all are in or not.
    fn change(&mut self, path: &str, rate: u64, limit: usize, time: Duration) -> Result<String> {
        let lines: Vec<String> = BufReader::new(File::open(path)?)
            .lines()
            .take(limit)
            .collect::<std::io::Result<_>>()?;
        let mut writer: IndexWriter = self.index.writer_with_num_threads(1, WRITER_MEMORY)?;
        let (reader, fields, applied) =
            (self.reader.clone(), self.fields.clone(), self.applied.clone());
        applied.store(0, Ordering::Relaxed);
        let count = lines.len();
        self.started = Instant::now();
        self.changes = Some(spawn(move || -> Result<u64> {
            let start = Instant::now();
            let mut shown = start;
            for (i, line) in lines.iter().enumerate() {
                let (id, doc) = fields.document(&line[2..], 0)?;
                writer.delete_term(Term::from_field_u64(fields.id, id));
                writer.add_document(doc)?;
                applied.fetch_add(1, Ordering::Relaxed);
                if shown.elapsed() >= REFRESH {
                    shown = Instant::now();
                    writer.commit()?;
                    reader.reload()?;
                }
                if start.elapsed() > time {
                    break;
                }
                if rate > 0 && (i + 1) % BATCH == 0 {
                    let due = Duration::from_secs_f64((i + 1) as f64 / rate as f64);
                    sleep(due.saturating_sub(start.elapsed()));
                }
            }
            writer.commit()?;
            reader.reload()?;
            let ns = start.elapsed().as_nanos() as u64;
            writer.wait_merging_threads()?;
            reader.reload()?;
            Ok(ns)
        }));
        Ok(format!("changes={count}"))
    }

    fn wait(&mut self) -> Result<String> {
        let thread = self.changes.take().ok_or("no changes are under way")?;
        let ns = thread.join().map_err(|_| "the thread of changes died")??;
        self.refresh()?;
        Ok(format!("applied={}\tns={ns}", self.applied.load(Ordering::Relaxed)))
    }
}

fn sort_of(ask: &Ask) -> (&'static str, Order) {
    match ask.get("sort") {
        "price" => ("price", Order::Asc),
        _ => ("date", Order::Desc),
    }
}

fn facets_text(found: &serde_json::Value) -> String {
    let mut parts = Vec::new();
    for (name, facet) in found.as_object().into_iter().flatten() {
        let mut values = Vec::new();
        for bucket in facet["buckets"].as_array().into_iter().flatten() {
            let key = bucket["key"].as_str().unwrap_or("?");
            values.push(format!("{key}={}", bucket["doc_count"]));
        }
        parts.push(format!("{name}:{}", values.join(",")));
    }
    parts.join(";")
}

/// A line of the protocol: a command, then words or name=value, parted by tabs.
struct Ask<'a> {
    words: Vec<&'a str>,
}

impl<'a> Ask<'a> {
    fn get(&self, name: &str) -> &'a str {
        for word in &self.words {
            if let Some((left, right)) = word.split_once('=') {
                if left == name {
                    return right;
                }
            }
        }
        ""
    }
}

fn obey(open: &mut Option<Open>, line: &str) -> Result<String> {
    let ask = Ask { words: line.split('\t').collect() };
    let limit = ask.get("limit").parse().unwrap_or(usize::MAX);
    match ask.words[0] {
        "index" => index(ask.get("dir"), ask.get("corpus"), ask.get("analysis"), limit),
        "open" => {
            *open = Some(Open::new(ask.get("dir"))?);
            Ok(String::new())
        }
        command => {
            let open = open.as_mut().ok_or("nothing is open")?;
            match command {
                "query" => open.answer(&ask),
                // It has no change of one field: `rank` is the whole document again.
                "change" | "rank" => {
                    let rate = ask.get("rate").parse().unwrap_or(0);
                    let seconds = ask.get("seconds").parse().unwrap_or(3600);
                    open.change(ask.get("file"), rate, limit, Duration::from_secs(seconds))
                }
                "applied" => Ok(format!("applied={}", open.applied.load(Ordering::Relaxed))),
                "wait" => open.wait(),
                _ => Err(format!("no command {command}").into()),
            }
        }
    }
}

fn main() -> Result<()> {
    let mut open = None;
    for line in std::io::stdin().lock().lines() {
        let reply = match obey(&mut open, &line?) {
            Ok(text) => format!("ok\t{text}\n"),
            Err(error) => format!("error\t{}\n", error.to_string().replace('\n', " ")),
        };
        let mut out = std::io::stdout().lock();
        out.write_all(reply.as_bytes())?;
        out.flush()?;
    }
    Ok(())
}
