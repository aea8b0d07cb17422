// SPDX-License-Identifier: Apache-2.0
// Lucene as a peer of bench core: docs/core-bench.md has the line protocol. Queries run on the main
// thread, the query cache off; changes are applied by a second one, shown once a second from memory
// (near real time). Compiles with Lucene 9.12 and 10.

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import org.apache.lucene.analysis.Analyzer;
import org.apache.lucene.analysis.LowerCaseFilter;
import org.apache.lucene.analysis.core.WhitespaceAnalyzer;
import org.apache.lucene.analysis.snowball.SnowballFilter;
import org.apache.lucene.analysis.standard.StandardTokenizer;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.IntField;
import org.apache.lucene.document.NumericDocValuesField;
import org.apache.lucene.document.StringField;
import org.apache.lucene.document.TextField;
import org.apache.lucene.facet.FacetResult;
import org.apache.lucene.facet.FacetsCollector;
import org.apache.lucene.facet.FacetsCollectorManager;
import org.apache.lucene.facet.FacetsConfig;
import org.apache.lucene.facet.LabelAndValue;
import org.apache.lucene.facet.sortedset.DefaultSortedSetDocValuesReaderState;
import org.apache.lucene.facet.sortedset.SortedSetDocValuesFacetCounts;
import org.apache.lucene.facet.sortedset.SortedSetDocValuesFacetField;
import org.apache.lucene.facet.sortedset.SortedSetDocValuesReaderState;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.index.NumericDocValues;
import org.apache.lucene.index.ReaderUtil;
import org.apache.lucene.index.Term;
import org.apache.lucene.search.BooleanClause;
import org.apache.lucene.search.BooleanQuery;
import org.apache.lucene.search.BoostQuery;
import org.apache.lucene.search.FieldDoc;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.MultiCollectorManager;
import org.apache.lucene.search.PhraseQuery;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.search.Sort;
import org.apache.lucene.search.SortField;
import org.apache.lucene.search.SortedNumericSortField;
import org.apache.lucene.search.TermQuery;
import org.apache.lucene.search.TopDocs;
import org.apache.lucene.search.TopFieldCollectorManager;
import org.apache.lucene.search.TopScoreDocCollectorManager;
import org.apache.lucene.search.TotalHits;
import org.apache.lucene.search.similarities.BM25Similarity;
import org.apache.lucene.store.FSDirectory;

public final class BenchCoreLucene {
    private static final String[] FACETS = {"category", "brand", "city", "condition", "delivery"};
    private static final float TITLE_WEIGHT = 2;
    private static final int BATCH = 50; // changes between two looks at the clock
    private static final long REFRESH_NS = 1_000_000_000L;
    private static final MethodHandle TOTAL = totalHandle();

    private final FacetsConfig facets = new FacetsConfig();
    private FSDirectory directory;
    private IndexWriter writer;
    private volatile View view;
    private Thread changes;
    private volatile String changesEnd;
    private final AtomicLong applied = new AtomicLong();

    /** A snapshot of the index with what facets need to know of it. */
    private final class View {
        final DirectoryReader reader;
        final IndexSearcher searcher;
        final Map<String, SortedSetDocValuesReaderState> states = new HashMap<>();

        View(DirectoryReader reader) throws IOException {
            this.reader = reader;
            searcher = new IndexSearcher(reader);
            searcher.setQueryCache(null);
            searcher.setSimilarity(new BM25Similarity(1.2f, 0.75f));
            for (String name : FACETS)
                states.put(name, new DefaultSortedSetDocValuesReaderState(reader, "facet_" + name,
                        facets));
        }
    }

    private BenchCoreLucene() {
        for (String name : FACETS)
            facets.setIndexFieldName(name, "facet_" + name);
    }

    /** TotalHits.value is a field in Lucene 9, a method in 10. */
    private static MethodHandle totalHandle() {
        MethodHandles.Lookup lookup = MethodHandles.publicLookup();
        try {
            return lookup.findVirtual(TotalHits.class, "value", MethodType.methodType(long.class));
        } catch (ReflectiveOperationException none) {
            try {
                return lookup.findGetter(TotalHits.class, "value", long.class);
            } catch (ReflectiveOperationException neither) {
                throw new IllegalStateException(neither);
            }
        }
    }

    private static Analyzer analyzer(String analysis) {
        if (!analysis.equals("own"))
            return new WhitespaceAnalyzer();
        return new Analyzer() {
            @Override
            protected TokenStreamComponents createComponents(String field) {
                StandardTokenizer source = new StandardTokenizer();
                return new TokenStreamComponents(source, new SnowballFilter(
                        new SnowballFilter(new LowerCaseFilter(source), "Russian"), "English"));
            }
        };
    }

    private static IndexWriterConfig config(String analysis) {
        return new IndexWriterConfig(analyzer(analysis)).setRAMBufferSizeMB(256)
                .setSimilarity(new BM25Similarity(1.2f, 0.75f));
    }

    /** Of a line: id title text category brand city seller price date condition delivery ... */
    private Document document(String line) throws IOException {
        String[] part = line.split("\t");
        Document doc = new Document();
        doc.add(new StringField("key", part[0], Field.Store.NO));
        doc.add(new NumericDocValuesField("id", Long.parseLong(part[0])));
        doc.add(new TextField("title", part[1], Field.Store.NO));
        doc.add(new TextField("text", part[2], Field.Store.NO));
        String path = part[3];
        for (int at = path.indexOf('/'); at >= 0; at = path.indexOf('/', at + 1))
            doc.add(new StringField("path", path.substring(0, at), Field.Store.NO));
        doc.add(new StringField("path", path, Field.Store.NO));
        doc.add(new StringField("brand", part[4], Field.Store.NO));
        doc.add(new StringField("city", part[5], Field.Store.NO));
        doc.add(new StringField("seller", part[6], Field.Store.NO));
        doc.add(new IntField("price", (int) Math.min(Integer.MAX_VALUE, Long.parseLong(part[7])),
                Field.Store.NO));
        doc.add(new IntField("date", Integer.parseInt(part[8]), Field.Store.NO));
        doc.add(new StringField("condition", part[9], Field.Store.NO));
        doc.add(new NumericDocValuesField("rank", 0));
        String[] values = {path, part[4], part[5], part[9], part[10]};
        for (int i = 0; i < FACETS.length; i++)
            doc.add(new SortedSetDocValuesFacetField(FACETS[i], values[i]));
        return facets.build(doc);
    }

    private String index(String dir, String corpus, String analysis, long limit)
            throws IOException {
        long start = System.nanoTime();
        long count = 0;
        try (FSDirectory to = FSDirectory.open(Path.of(dir));
                IndexWriter into = new IndexWriter(to, config(analysis));
                BufferedReader lines = Files.newBufferedReader(Path.of(corpus))) {
            for (String line = lines.readLine(); line != null && count < limit;
                    line = lines.readLine()) {
                into.addDocument(document(line));
                count++;
            }
            into.commit();
        } // closing waits for merges
        try (FSDirectory from = FSDirectory.open(Path.of(dir));
                DirectoryReader reader = DirectoryReader.open(from)) {
            return "documents=" + count + "\tns=" + (System.nanoTime() - start) + "\tsegments="
                    + reader.leaves().size();
        }
    }

    private void open(String dir) throws IOException {
        directory = FSDirectory.open(Path.of(dir));
        view = new View(DirectoryReader.open(directory));
    }

    private static Query weighted(String field, Query query) {
        return field.equals("title") ? new BoostQuery(query, TITLE_WEIGHT) : query;
    }

    private static Query textQuery(Map<String, String> ask) {
        String[] words = ask.get("words").split(" ");
        String[] fields = "text".equals(ask.get("fields")) ? new String[] {"text"}
                : new String[] {"title", "text"};
        BooleanQuery.Builder all = new BooleanQuery.Builder();
        switch (ask.get("op")) {
            case "and":
                for (String word : words) {
                    BooleanQuery.Builder any = new BooleanQuery.Builder();
                    for (String field : fields)
                        any.add(weighted(field, new TermQuery(new Term(field, word))),
                                BooleanClause.Occur.SHOULD);
                    all.add(any.build(), BooleanClause.Occur.MUST);
                }
                break;
            case "or":
                for (String word : words)
                    for (String field : fields)
                        all.add(weighted(field, new TermQuery(new Term(field, word))),
                                BooleanClause.Occur.SHOULD);
                break;
            default:
                for (String field : fields)
                    all.add(weighted(field, new PhraseQuery(field, words)),
                            BooleanClause.Occur.SHOULD);
        }
        return all.build();
    }

    private static Query query(Map<String, String> ask) {
        BooleanQuery.Builder all = new BooleanQuery.Builder();
        boolean filtered = false;
        for (String name : new String[] {"category", "condition"}) {
            if (ask.containsKey(name)) {
                Term term = new Term(name.equals("category") ? "path" : name, ask.get(name));
                all.add(new TermQuery(term), BooleanClause.Occur.FILTER);
                filtered = true;
            }
        }
        if (ask.containsKey("price")) {
            String[] ends = ask.get("price").split("\\.\\.");
            all.add(IntField.newRangeQuery("price", (int) Long.parseLong(ends[0]),
                    (int) Math.min(Integer.MAX_VALUE, Long.parseLong(ends[1]))),
                    BooleanClause.Occur.FILTER);
            filtered = true;
        }
        if (!ask.containsKey("op"))
            return all.build();
        Query text = textQuery(ask);
        return filtered ? all.add(text, BooleanClause.Occur.MUST).build() : text;
    }

    private static Sort sort(Map<String, String> ask) {
        return "price".equals(ask.get("sort"))
                ? new Sort(new SortedNumericSortField("price", SortField.Type.INT))
                : new Sort(new SortedNumericSortField("date", SortField.Type.INT, true));
    }

    private static long total(TopDocs docs) {
        try {
            return (long) TOTAL.invoke(docs.totalHits);
        } catch (Throwable impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    private static long[] ids(IndexReader reader, ScoreDoc[] docs) throws IOException {
        long[] ids = new long[docs.length];
        List<LeafReaderContext> leaves = reader.leaves();
        for (int i = 0; i < docs.length; i++) {
            LeafReaderContext leaf = leaves.get(ReaderUtil.subIndex(docs[i].doc, leaves));
            NumericDocValues values = leaf.reader().getNumericDocValues("id");
            values.advanceExact(docs[i].doc - leaf.docBase);
            ids[i] = values.longValue();
        }
        return ids;
    }

    private String answer(Map<String, String> ask) throws IOException {
        View now = view;
        while (!now.reader.tryIncRef())
            now = view;
        try {
            return answer(now, ask);
        } finally {
            now.reader.decRef();
        }
    }

    private String answer(View now, Map<String, String> ask) throws IOException {
        long start = System.nanoTime();
        Query query = query(ask);
        int top = Integer.parseInt(ask.getOrDefault("top", "0"));
        boolean exact = ask.getOrDefault("total", "0").equals("1");
        long total = -1;
        TopDocs docs = null;
        Map<String, FacetResult> found = null;
        if (ask.containsKey("facets")) {
            Object[] both = now.searcher.search(query, new MultiCollectorManager(
                    new TopFieldCollectorManager(sort(ask), top, null, Integer.MAX_VALUE),
                    new FacetsCollectorManager()));
            docs = (TopDocs) both[0];
            total = total(docs);
            found = new LinkedHashMap<>();
            for (String name : ask.get("facets").split(","))
                found.put(name, new SortedSetDocValuesFacetCounts(now.states.get(name),
                        (FacetsCollector) both[1]).getTopChildren(10, name));
        } else if (top == 0) {
            total = now.searcher.count(query);
        } else {
            docs = now.searcher.search(query, new TopScoreDocCollectorManager(top, null,
                    exact ? Integer.MAX_VALUE : top));
            total = exact ? total(docs) : -1;
        }
        long[] ids = docs == null ? new long[0] : ids(now.reader, docs.scoreDocs);
        long ns = System.nanoTime() - start;
        StringBuilder line = new StringBuilder("ns=").append(ns);
        if (total >= 0)
            line.append("\ttotal=").append(total);
        line.append("\thits=");
        for (int i = 0; i < ids.length; i++) {
            ScoreDoc doc = docs.scoreDocs[i];
            Object key = doc instanceof FieldDoc ? ((FieldDoc) doc).fields[0] : (Object) doc.score;
            line.append(i > 0 ? "," : "").append(ids[i]).append(':').append(key);
        }
        if (found != null)
            line.append("\tfacets=").append(found.entrySet().stream()
                    .map(each -> each.getKey() + ":" + values(each.getValue()))
                    .collect(Collectors.joining(";")));
        return line.toString();
    }

    private static String values(FacetResult result) {
        StringBuilder text = new StringBuilder();
        if (result != null)
            for (LabelAndValue each : result.labelValues)
                text.append(text.length() > 0 ? "," : "").append(each.label).append('=')
                        .append(each.value);
        return text.toString();
    }

    private void show() throws IOException {
        DirectoryReader old = view.reader;
        DirectoryReader newer = DirectoryReader.openIfChanged(old, writer);
        if (newer != null) {
            view = new View(newer);
            old.decRef();
        }
    }

    private void apply(String[] lines, long rate, long seconds, boolean rankOnly)
            throws Exception {
        long start = System.nanoTime();
        long shown = start;
        for (int i = 0; i < lines.length; i++) {
            String line = lines[i].substring(2);
            Term key = new Term("key", line.substring(0, line.indexOf('\t')));
            if (rankOnly)
                writer.updateNumericDocValue(key, "rank", i + 1);
            else
                writer.updateDocument(key, document(line));
            applied.incrementAndGet();
            if (System.nanoTime() - shown >= REFRESH_NS) {
                shown = System.nanoTime();
                show();
            }
            if (System.nanoTime() - start > seconds * 1_000_000_000L)
                break;
            if (rate > 0 && (i + 1) % BATCH == 0) {
                long wait = start + (i + 1) * 1_000_000_000L / rate - System.nanoTime();
                if (wait > 0)
                    Thread.sleep(wait / 1_000_000, (int) (wait % 1_000_000));
            }
        }
        show();
        long ns = System.nanoTime() - start;
        writer.commit();
        changesEnd = "applied=" + applied.get() + "\tns=" + ns;
    }

    private String change(Map<String, String> ask, long limit, boolean rankOnly)
            throws IOException {
        String[] lines;
        try (BufferedReader from = Files.newBufferedReader(Path.of(ask.get("file")))) {
            lines = from.lines().limit(limit).toArray(String[]::new);
        }
        long rate = Long.parseLong(ask.getOrDefault("rate", "0"));
        long seconds = Long.parseLong(ask.getOrDefault("seconds", "3600"));
        if (writer == null)
            writer = new IndexWriter(directory, config("tokens"));
        applied.set(0);
        changesEnd = null;
        changes = new Thread(() -> {
            try {
                apply(lines, rate, seconds, rankOnly);
            } catch (Exception error) {
                error.printStackTrace();
                changesEnd = "error=" + error;
            }
        });
        changes.start();
        return "changes=" + lines.length;
    }

    private String obey(String line) throws Exception {
        String[] words = line.split("\t");
        Map<String, String> ask = new HashMap<>();
        for (String word : words) {
            int at = word.indexOf('=');
            if (at > 0 && at + 1 < word.length())
                ask.put(word.substring(0, at), word.substring(at + 1));
        }
        long limit = Long.parseLong(ask.getOrDefault("limit", Long.toString(Long.MAX_VALUE)));
        switch (words[0]) {
            case "index":
                return index(ask.get("dir"), ask.get("corpus"), ask.get("analysis"), limit);
            case "open":
                open(ask.get("dir"));
                return "";
            case "query":
                return answer(ask);
            case "change":
                return change(ask, limit, false);
            case "rank":
                return change(ask, limit, true);
            case "applied":
                return "applied=" + applied.get();
            case "wait":
                changes.join();
                return changesEnd;
            default:
                throw new IllegalArgumentException("no command " + words[0]);
        }
    }

    public static void main(String[] arguments) throws Exception {
        BenchCoreLucene peer = new BenchCoreLucene();
        PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        BufferedReader in = new BufferedReader(
                new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            try {
                out.print("ok\t" + peer.obey(line) + "\n");
            } catch (Exception error) {
                error.printStackTrace();
                out.print("error\t" + error.toString().replace('\n', ' ') + "\n");
            }
            out.flush();
        }
        if (peer.writer != null)
            peer.writer.close();
    }
}
