/* SPDX-License-Identifier: Apache-2.0 */
/*
 * service_pages.c - offers and sellers at addresses of their own, as pages that say something
 * without a script, to people, to search engines and to those who show a link's title and picture.
 *
 *   GET /offers/ID     one offer       GET /robots.txt
 *   GET /sellers/ID    all of a seller's, and since when the oldest of them is there
 *   GET /sitemap.xml   the newest offers
 *
 * Addresses of their own are made with the header host, as the visitor has written it.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "codec/message.h"
#include "model/offer_fields.h"
#include "search/asking/found.h"
#include "search/bounds.h"
#include "search/service.h"

enum text {
    TEXT_SELLER,
    TEXT_SINCE,
    TEXT_SEARCH,
    TEXT_OPEN,
    TEXT_PRICE_NONE,
    TEXT_GONE,
    TEXT_ALL_OF,
    TEXT_COUNT_OF
};

static const char *const texts[LANGUAGE_COUNT][8] = {
    [LANGUAGE_RU] = {"Продавец", "Объявления с", "К поиску", "Фото, подробности и похожие",
                     "Цена не указана", "Такого объявления нет: оно снято или его не было.",
                     "Все объявления продавца", "Объявлений"},
    [LANGUAGE_EN] = {"Seller", "Offers since", "To the search",
                     "Photos, details and similar offers", "No price",
                     "There is no such offer: it is gone, or never existed.",
                     "All offers of the seller", "Offers"},
};

struct page {
    struct call *call;
    const struct search *search;
    struct arena *arena;
    struct buf *out;
    enum language language;
    const char *origin; /* "http://host" */
};

/* --- HTML --- */

static void put_html(struct buf *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '<')
            buf_put_text(out, "&lt;");
        else if (*text == '>')
            buf_put_text(out, "&gt;");
        else if (*text == '&')
            buf_put_text(out, "&amp;");
        else if (*text == '"')
            buf_put_text(out, "&quot;");
        else
            buf_put_byte(out, (uint8_t)*text);
    }
}

/* A part of an address, percent-encoded. */
static void put_part(struct buf *out, const char *text)
{
    for (; *text; text++) {
        uint8_t byte = (uint8_t)*text;

        if ((byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
            (byte >= '0' && byte <= '9') || strchr("-_.~", byte))
            buf_put_byte(out, byte);
        else
            buf_printf(out, "%%%02X", byte);
    }
}

static void put_meta(struct buf *out, const char *kind, const char *name, const char *content)
{
    buf_printf(out, "<meta %s=\"%s\" content=\"", kind, name);
    put_html(out, content);
    buf_put_text(out, "\">\n");
}

static const char *say(const struct page *page, enum text text)
{
    return texts[page->language][text];
}

/* The beginning of a page, up to its <main>. */
static void begin_page(const struct page *page, const char *title, const char *about,
                       const char *path, const char *picture)
{
    struct buf *out = page->out;

    buf_printf(out,
               "<!doctype html>\n<html lang=\"%s\">\n<head>\n<meta charset=\"utf-8\">\n"
               "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>",
               page->language == LANGUAGE_RU ? "ru" : "en");
    put_html(out, title);
    buf_put_text(out, " · Torg</title>\n<link rel=\"icon\" href=\"/icon.svg\" "
                      "type=\"image/svg+xml\">\n<link rel=\"stylesheet\" href=\"/plain.css\">\n");
    put_meta(out, "name", "description", about);
    put_meta(out, "property", "og:type", "website");
    put_meta(out, "property", "og:site_name", "Torg");
    put_meta(out, "property", "og:title", title);
    put_meta(out, "property", "og:description", about);
    if (path) {
        const char *address = arena_printf(page->arena, "%s%s", page->origin, path);

        put_meta(out, "property", "og:url", address);
        buf_put_text(out, "<link rel=\"canonical\" href=\"");
        put_html(out, address);
        buf_put_text(out, "\">\n");
    }
    if (picture)
        put_meta(out, "property", "og:image",
                 arena_printf(page->arena, "%s%s", page->origin, picture));
    buf_printf(out,
               "</head>\n<body>\n<header class=\"top\"><a class=\"logo\" href=\"/\">Torg</a>"
               "<a href=\"/\">%s</a></header>\n<main class=\"page narrow\">\n",
               say(page, TEXT_SEARCH));
}

/* Nothing runs in these pages, whatever an offer says; tools that look at them may read robots.txt
 * from within. */
static void end_page(const struct page *page, struct rest_answer *answer, int status)
{
    call_add_header(page->call, "content-security-policy",
                    bytes_of("default-src 'none'; style-src 'self'; img-src 'self'; "
                             "connect-src 'self'; "
                             "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"),
                    NULL);
    call_add_header(page->call, "x-content-type-options", bytes_of("nosniff"), NULL);
    buf_put_text(page->out, "</main>\n</body>\n</html>\n");
    answer->content_type = "text/html; charset=utf-8";
    answer->http_status = status;
}

/* 1 234 567,50 ₽ */
static const char *price_text(const struct page *page, const Torg__V1__Price *price)
{
    struct buf text = BUF_INIT(128);
    char digits[32];
    const char *result;
    size_t size;

    if (!price || !*price->currency)
        return say(page, TEXT_PRICE_NONE);
    size = (size_t)snprintf(digits, sizeof(digits), "%" PRId64, price->amount / 100);
    for (size_t i = 0; i < size; i++) {
        if (i && (size - i) % 3 == 0 && digits[i - 1] != '-')
            buf_put_text(&text, "\xc2\xa0");
        buf_put_byte(&text, (uint8_t)digits[i]);
    }
    if (price->amount % 100)
        buf_printf(&text, "%c%02d", page->language == LANGUAGE_RU ? ',' : '.',
                   (int)llabs(price->amount % 100));
    buf_printf(&text, "\xc2\xa0%s", strcmp(price->currency, "RUB") == 0 ? "₽" : price->currency);
    result = arena_text(page->arena, buf_bytes(&text));
    buf_release(&text);
    return result;
}

/* What a job pays: "80 000 ₽ – 120 000 ₽ в месяц". */
static const char *salary_text(const struct page *page, const Torg__V1__Salary *salary)
{
    static const char *const periods[LANGUAGE_COUNT][6] = {
        [LANGUAGE_RU] = {"", "в час", "за смену", "в неделю", "в месяц", "в год"},
        [LANGUAGE_EN] = {"", "an hour", "a shift", "a week", "a month", "a year"},
    };
    Torg__V1__Price price = TORG__V1__PRICE__INIT;
    const char *min = "", *max = "";
    bool is_russian = page->language == LANGUAGE_RU;

    price.currency = salary->currency;
    price.amount = salary->min;
    if (salary->min)
        min = price_text(page, &price);
    price.amount = salary->max;
    if (salary->max)
        max = price_text(page, &price);
    return arena_printf(page->arena, "%s%s%s%s %s",
                        salary->max  ? ""
                        : is_russian ? "от "
                                     : "from ",
                        min,
                        !salary->max  ? ""
                        : salary->min ? " – "
                        : is_russian  ? "до "
                                      : "up to ",
                        max,
                        (unsigned)salary->period < ARRAY_COUNT(periods[0])
                            ? periods[page->language][salary->period]
                            : "");
}

static const char *worth_text(const struct page *page, const Torg__V1__OfferContent *content)
{
    return content->salary ? salary_text(page, content->salary) : price_text(page, content->price);
}

/* --- an offer --- */

/* The first that is ready; NULL: none is. */
static const Torg__V1__Photo *photo_of(const Torg__V1__OfferContent *content)
{
    for (size_t i = 0; i < content->n_photos; i++) {
        const Torg__V1__Photo *photo = content->photos[i];

        if (photo->state == TORG__V1__PHOTO__STATE__READY && photo->n_sizes)
            return photo;
    }
    return NULL;
}

/* The smallest form that fills a phone, or the largest there is. */
static const Torg__V1__PhotoSize *size_of(const Torg__V1__Photo *photo)
{
    const Torg__V1__PhotoSize *found = photo->sizes[0];

    for (size_t k = 1; k < photo->n_sizes; k++)
        if (found->width < 800 && photo->sizes[k]->width > found->width)
            found = photo->sizes[k];
    return found;
}

/* What is seen until the photo is there (web/common/preview.js draws the same): columns and rows in
 * one byte, then each cell as RGB 5-6-5. Attributes, since no page may have styles within it. */
static void put_preview(struct buf *out, struct bytes preview)
{
    unsigned columns = preview.size ? preview.data[0] >> 4u : 0;
    unsigned rows = preview.size ? preview.data[0] & 15u : 0;

    if (!columns || !rows || preview.size != 1 + 2 * (size_t)columns * rows)
        return;
    buf_printf(out, "<svg viewBox=\"0 0 %u %u\" preserveAspectRatio=\"none\" aria-hidden=\"true\">",
               columns, rows);
    for (unsigned i = 0; i < columns * rows; i++) {
        unsigned cell = (unsigned)preview.data[1 + 2 * i] << 8u | preview.data[2 + 2 * i];

        buf_printf(out,
                   "<rect x=\"%u\" y=\"%u\" width=\"1.05\" height=\"1.05\" "
                   "fill=\"#%02x%02x%02x\"/>",
                   i % columns, i / columns, (cell >> 11u) * 255 / 31,
                   (cell >> 5u & 63u) * 255 / 63, (cell & 31u) * 255 / 31);
    }
    buf_put_text(out, "</svg>");
}

static const char *photo_path(const struct page *page, const char *key)
{
    struct buf path = BUF_INIT(1024);
    const char *text;

    buf_put_text(&path, "/v1/photos/");
    put_part(&path, key);
    text = arena_text(page->arena, buf_bytes(&path));
    buf_release(&path);
    return text;
}

static const char *path_of(const struct page *page, const char *folder, const char *id)
{
    struct buf path = BUF_INIT(1024);
    const char *text;

    buf_printf(&path, "/%s/", folder);
    put_part(&path, id);
    text = arena_text(page->arena, buf_bytes(&path));
    buf_release(&path);
    return text;
}

/* Which category it is in, and what is said of it there: the way, then attributes by name. */
static void put_facts(const struct page *page, const Torg__V1__OfferContent *content)
{
    struct catalog *catalog = page->search->catalog(page->search->catalog_arg);
    const struct category *category = category_find(catalog, content->category);
    struct buf *out = page->out;

    if (category) {
        const struct category **way = category_path(category, page->arena);

        buf_put_text(out, "<p class=\"dim\">");
        for (uint32_t i = 0; i < category->depth; i++) {
            buf_printf(out, "%s<a href=\"/?c=", i ? " › " : "");
            put_part(out, way[i]->id);
            buf_put_text(out, "\">");
            put_html(out, way[i]->name.in[page->language]);
            buf_put_text(out, "</a>");
        }
        buf_put_text(out, "</p>\n<dl class=\"facts\">\n");
        for (size_t i = 0; i < content->n_attributes; i++) {
            const Torg__V1__AttributeValue *value = content->attributes[i];
            const struct attribute *attribute = attribute_find(category, value->attribute_id);

            if (!attribute || !value->n_options)
                continue;
            buf_put_text(out, "<dt>");
            put_html(out, attribute->name.in[page->language]);
            buf_put_text(out, "</dt><dd>");
            for (size_t k = 0; k < value->n_options; k++) {
                const struct attribute_option *option = option_find(attribute, value->options[k]);

                buf_put_text(out, k ? ", " : "");
                put_html(out, option ? option->name.in[page->language] : value->options[k]);
            }
            buf_put_text(out, "</dd>\n");
        }
        for (size_t i = 0; i < content->n_properties; i++) {
            buf_put_text(out, "<dt>");
            put_html(out, content->properties[i]->name);
            buf_put_text(out, "</dt><dd>");
            put_html(out, content->properties[i]->value);
            buf_put_text(out, "</dd>\n");
        }
        buf_put_text(out, "</dl>\n");
    }
    catalog_unref(catalog);
}

static void put_photo(const struct page *page, const Torg__V1__OfferContent *content)
{
    const Torg__V1__Photo *photo = photo_of(content);
    const Torg__V1__PhotoSize *size = photo ? size_of(photo) : NULL;
    struct buf *out = page->out;

    if (!size)
        return;
    buf_put_text(out, "<span class=\"framed\">");
    put_preview(out, bytes_make(photo->preview.data, photo->preview.len));
    buf_printf(out, "<img src=\"%s\" width=\"%u\" height=\"%u\" alt=\"",
               photo_path(page, size->key), size->width ? size->width : 800,
               size->height ? size->height : 600);
    put_html(out, content->title);
    buf_put_text(out, "\"></span>\n");
}

static void put_offer(const struct page *page, const Torg__V1__Offer *offer)
{
    const Torg__V1__OfferContent *content = offer->content;
    struct buf *out = page->out;

    buf_put_text(out, "<article class=\"card\">\n<h1>");
    put_html(out, content->title);
    buf_printf(out, "</h1>\n<p class=\"offer-price\">%s</p>\n", worth_text(page, content));
    put_photo(page, content);
    if (content->address && *content->address->text) {
        buf_put_text(out, "<p>");
        put_html(out, content->address->text);
        buf_put_text(out, "</p>\n");
    }
    put_facts(page, content);
    if (*content->description) {
        buf_put_text(out, "<p class=\"description\">");
        put_html(out, content->description);
        buf_put_text(out, "</p>\n");
    }
    buf_printf(out, "<p>%s: <a href=\"%s\">", say(page, TEXT_SELLER),
               path_of(page, "sellers", offer->seller));
    put_html(out, content->contacts && *content->contacts->name ? content->contacts->name
                                                                : offer->seller);
    buf_put_text(out, "</a></p>\n<p><a class=\"button primary\" href=\"/?offer=");
    put_part(out, offer->id);
    buf_printf(out, "\">%s</a></p>\n</article>\n", say(page, TEXT_OPEN));
}

static struct page page_begin(struct call *call, struct rest_answer *answer)
{
    struct bytes host = call_header(call, "host");
    struct page page = {.call = call,
                        .search = call_context(call),
                        .arena = call_arena(call),
                        .out = answer->body,
                        .language = language_of(call_header(call, "accept-language"))};

    if (!host.size)
        host = call_header(call, ":authority");
    page.origin =
        arena_printf(page.arena, "http%s://%.*s",
                     bytes_equal_text(call_header(call, "x-forwarded-proto"), "https") ? "s" : "",
                     BYTES_ARG(host));
    return page;
}

static int get_offer(struct call *call, const struct rest_request *request,
                     struct rest_answer *answer, struct err *err)
{
    struct page page = page_begin(call, answer);
    const char *id = arena_text(page.arena, request->variables[0]);
    const Torg__V1__Photo *photo;
    Torg__V1__Offer *offer = NULL;
    const char *about;
    int rc = page.search->fetch(page.search->fetch_arg, id, page.arena, &offer, err);

    if (rc == ERR_NOT_FOUND || rc == ERR_INVALID) {
        begin_page(&page, say(&page, TEXT_GONE), say(&page, TEXT_GONE), NULL, NULL);
        buf_printf(page.out, "<h1>%s</h1>\n<p><a class=\"button primary\" href=\"/\">%s</a></p>\n",
                   say(&page, TEXT_GONE), say(&page, TEXT_SEARCH));
        end_page(&page, answer, 404);
        return 0;
    }
    if (rc)
        return rc;
    photo = photo_of(offer->content);
    about = arena_printf(page.arena, "%s. %.200s", worth_text(&page, offer->content),
                         *offer->content->description ? offer->content->description
                         : offer->content->address    ? offer->content->address->text
                                                      : "");
    while (!text_is_utf8(bytes_of(about))) /* cut within a character */
        about = arena_printf(page.arena, "%.*s", (int)strlen(about) - 1, about);
    begin_page(&page, offer->content->title, about, path_of(&page, "offers", offer->id),
               photo ? photo_path(&page, size_of(photo)->key) : NULL);
    put_offer(&page, offer);
    end_page(&page, answer, 200);
    return 0;
}

/* --- a seller, the newest: lists --- */

/* Offers of the index, the newest or the oldest first; seller NULL: of all. */
static int ask_offers(const struct page *page, const char *seller, bool is_oldest, uint32_t limit,
                      Torg__V1__StageAnswer **found, struct err *err)
{
    static const char *const show[] = {OFFER_FIELD_TITLE,    OFFER_FIELD_PRICE,  OFFER_FIELD_AMOUNT,
                                       OFFER_FIELD_CURRENCY, OFFER_FIELD_SALARY, OFFER_FIELD_PHOTO,
                                       OFFER_FIELD_CREATED};
    struct arena *arena = page->arena;
    Torg__V1__SearchRequest *request = MESSAGE_NEW(search_request, arena);
    Torg__V1__SearchResponse *response = MESSAGE_NEW(search_response, arena);
    Torg__V1__QueryStage *stage = MESSAGE_NEW(query_stage, arena);
    Torg__V1__Sort *sort = MESSAGE_NEW(sort, arena);
    int64_t deadline_us = search_deadline_us(page->search, clock_mono_us(page->search->clock));
    int rc;

    request->client = (char *)OFFER_CLIENT;
    request->query = MESSAGE_NEW(query, arena);
    request->query->unknown_is_empty = true;
    request->query->stages = arena_array(arena, 1, sizeof(stage));
    request->query->stages[0] = stage;
    request->query->n_stages = 1;
    stage->_limit_case = TORG__V1__QUERY_STAGE___LIMIT_LIMIT;
    stage->limit = limit;
    stage->no_cursor = true;
    stage->show = (char **)show;
    stage->n_show = seller ? ARRAY_COUNT(show) : 0;
    sort->field = (char *)OFFER_FIELD_CREATED;
    sort->descending = !is_oldest;
    stage->sorts = arena_array(arena, 1, sizeof(sort));
    stage->sorts[stage->n_sorts++] = sort;
    if (seller) {
        Torg__V1__FieldValues *values = MESSAGE_NEW(field_values, arena);

        values->field = (char *)OFFER_FIELD_SELLER;
        values->values = arena_array(arena, 1, sizeof(char *));
        values->values[values->n_values++] = (char *)seller;
        stage->filter = MESSAGE_NEW(filter, arena);
        stage->filter->kind_case = TORG__V1__FILTER__KIND_IN;
        stage->filter->in = values;
    }
    if (call_deadline_us(page->call) < deadline_us)
        deadline_us = call_deadline_us(page->call);
    rc = page->search->ask(page->search->ask_arg, request, deadline_us, arena, response, err);
    *found = rc ? NULL : response->answer->stages[0];
    return rc;
}

static void put_hit(const struct page *page, const Torg__V1__Hit *hit)
{
    Torg__V1__Price price = TORG__V1__PRICE__INIT;
    const Torg__V1__Salary *salary = salary_read(hit_shown(hit, OFFER_FIELD_SALARY), page->arena);
    Torg__V1__FoundOffer shown = TORG__V1__FOUND_OFFER__INIT;
    const char *amount = hit_shown(hit, OFFER_FIELD_PRICE);

    if (!*amount) /* of another currency than the catalogue's */
        amount = hit_shown(hit, OFFER_FIELD_AMOUNT);
    price.amount = strtoll(amount, NULL, 10);
    price.currency = (char *)hit_shown(hit, OFFER_FIELD_CURRENCY);
    buf_put_text(page->out, "<li>");
    hit_read_photo(hit, &shown, page->arena);
    if (*shown.photo) {
        buf_put_text(page->out, "<span class=\"framed\">");
        put_preview(page->out, bytes_make(shown.photo_preview.data, shown.photo_preview.len));
        buf_printf(page->out,
                   "<img src=\"%s\" alt=\"\" width=\"96\" height=\"72\" loading=\"lazy\"></span>",
                   photo_path(page, shown.photo));
    }
    buf_printf(page->out, "<a href=\"%s\">", path_of(page, "offers", hit->pk));
    put_html(page->out, hit_shown(hit, OFFER_FIELD_TITLE));
    buf_printf(page->out, "</a> <b>%s</b> <span class=\"dim\">%.10s</span></li>\n",
               salary ? salary_text(page, salary) : price_text(page, &price),
               hit_shown(hit, OFFER_FIELD_CREATED));
}

/* As the newest offer has it; an offer that is gone by now leaves the id. */
static const char *seller_name(const struct page *page, const char *offer_id, const char *seller)
{
    Torg__V1__Offer *offer = NULL;
    struct err err;

    if (page->search->fetch(page->search->fetch_arg, offer_id, page->arena, &offer, &err) ||
        !offer->content->contacts || !*offer->content->contacts->name)
        return seller;
    return offer->content->contacts->name;
}

static int get_seller(struct call *call, const struct rest_request *request,
                      struct rest_answer *answer, struct err *err)
{
    struct page page = page_begin(call, answer);
    const char *seller = arena_text(page.arena, request->variables[0]);
    Torg__V1__StageAnswer *newest = NULL;
    Torg__V1__StageAnswer *oldest = NULL;
    const char *name;
    int rc = ask_offers(&page, seller, false, PAGES_OFFER_COUNT, &newest, err);

    rc = rc ? rc : ask_offers(&page, seller, true, 1, &oldest, err);
    if (rc)
        return rc;
    name = newest->n_hits ? seller_name(&page, newest->hits[0]->pk, seller) : seller;
    begin_page(&page, name, say(&page, TEXT_ALL_OF), path_of(&page, "sellers", seller), NULL);
    buf_printf(page.out, "<h1>%s ", say(&page, TEXT_SELLER));
    put_html(page.out, name);
    buf_printf(page.out, "</h1>\n<p class=\"dim\">%s: %" PRIu64, say(&page, TEXT_COUNT_OF),
               newest->total);
    if (oldest->n_hits)
        buf_printf(page.out, ". %s %.10s", say(&page, TEXT_SINCE),
                   hit_shown(oldest->hits[0], OFFER_FIELD_CREATED));
    buf_put_text(page.out, "</p>\n<ul class=\"plain-list\">\n");
    for (size_t i = 0; i < newest->n_hits; i++)
        put_hit(&page, newest->hits[i]);
    buf_put_text(page.out, "</ul>\n");
    end_page(&page, answer, newest->total ? 200 : 404);
    return 0;
}

static int get_sitemap(struct call *call, const struct rest_request *request,
                       struct rest_answer *answer, struct err *err)
{
    struct page page = page_begin(call, answer);
    Torg__V1__StageAnswer *newest = NULL;
    int rc = ask_offers(&page, NULL, false, PAGES_SITEMAP_COUNT, &newest, err);

    (void)request;
    if (rc)
        return rc;
    buf_printf(
        page.out,
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<urlset "
        "xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n<url><loc>%s/</loc></url>\n",
        page.origin);
    for (size_t i = 0; i < newest->n_hits; i++)
        buf_printf(page.out, "<url><loc>%s%s</loc></url>\n", page.origin,
                   path_of(&page, "offers", newest->hits[i]->pk));
    buf_put_text(page.out, "</urlset>\n");
    answer->content_type = "application/xml";
    return 0;
}

static int get_robots(struct call *call, const struct rest_request *request,
                      struct rest_answer *answer, struct err *err)
{
    struct page page = page_begin(call, answer);

    (void)request;
    (void)err;
    buf_printf(page.out,
               "User-agent: *\nDisallow: /cabinet\nDisallow: /console\nDisallow: /try\n"
               "Disallow: /v1/\nAllow: /v1/photos/\nSitemap: %s/sitemap.xml\n",
               page.origin);
    answer->content_type = "text/plain; charset=utf-8";
    return 0;
}

static const struct rest_method methods[] = {
    {.verb = "GET",
     .path = "/offers/{id}",
     .run = get_offer,
     .flags = RPC_PUBLIC,
     .about = "An offer as a page.",
     .answer = REST_CONTENT("text/html", REST_TEXT)},
    {.verb = "GET",
     .path = "/sellers/{id}",
     .run = get_seller,
     .flags = RPC_PUBLIC | RPC_COMPUTE,
     .about = "A seller's offers as a page.",
     .answer = REST_CONTENT("text/html", REST_TEXT)},
    {.verb = "GET",
     .path = "/sitemap.xml",
     .run = get_sitemap,
     .flags = RPC_PUBLIC | RPC_COMPUTE,
     .about = "Addresses of the newest offers, for search engines.",
     .answer = REST_CONTENT("application/xml", REST_TEXT)},
    {.verb = "GET",
     .path = "/robots.txt",
     .run = get_robots,
     .flags = RPC_PUBLIC | RPC_INLINE,
     .about = "What search engines may read.",
     .answer = REST_CONTENT("text/plain", REST_TEXT)},
};

struct rest_service search_pages_service(struct search *search)
{
    return (struct rest_service){
        .methods = methods, .method_count = ARRAY_COUNT(methods), .context = search};
}
