/* SPDX-License-Identifier: Apache-2.0 */
/* drawing.c - see drawing.h: a soft background, a shadow, the shape a little turned. */
#include "demo/drawing.h"

#include <assert.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/random.h"

struct rgb {
    uint8_t r;
    uint8_t g;
    uint8_t b;
};

struct named_color {
    const char *name;
    struct rgb rgb;
};

static const struct named_color colors[] = {
    {"black", {52, 56, 64}},         {"white", {236, 239, 243}}, {"grey", {142, 150, 160}},
    {"silver", {186, 193, 202}},     {"red", {206, 64, 62}},     {"blue", {58, 98, 176}},
    {"light-blue", {116, 176, 222}}, {"green", {82, 148, 98}},   {"yellow", {232, 192, 76}},
    {"orange", {228, 132, 62}},      {"brown", {138, 100, 72}},  {"beige", {214, 196, 168}},
    {"purple", {132, 96, 166}},      {"pink", {228, 150, 174}},  {"gold", {204, 170, 98}},
};

/* Where no colour is said. */
static const struct rgb usual[] = {
    {86, 128, 158}, {120, 140, 104}, {168, 116, 88}, {110, 104, 150},
    {184, 152, 96}, {92, 142, 136},  {150, 98, 110},
};

static struct rgb color_of(struct bytes name, uint64_t number)
{
    for (size_t i = 0; i < ARRAY_COUNT(colors); i++) {
        if (bytes_equal_text(name, colors[i].name))
            return colors[i].rgb;
    }
    return usual[number % ARRAY_COUNT(usual)];
}

static uint8_t toward(uint8_t from, uint8_t to, unsigned percent)
{
    return (uint8_t)(from + ((int)to - from) * (int)percent / 100);
}

static struct rgb mix(struct rgb from, struct rgb to, unsigned percent)
{
    return (struct rgb){toward(from.r, to.r, percent), toward(from.g, to.g, percent),
                        toward(from.b, to.b, percent)};
}

static void put_color(struct buf *out, struct rgb color)
{
    buf_printf(out, "#%02x%02x%02x", color.r, color.g, color.b);
}

static const struct drawing_shape *find_shape(struct bytes name)
{
    for (size_t i = 0; i < drawing_shape_count; i++) {
        if (bytes_equal_text(name, drawing_shapes[i].name))
            return &drawing_shapes[i];
    }
    return NULL;
}

bool drawing_is_known(struct bytes name)
{
    return find_shape(name) != NULL;
}

static void put_shape(struct buf *out, const char *svg, struct rgb color)
{
    const struct rgb black = {20, 22, 28};
    const struct rgb white = {255, 255, 255};

    for (const char *at = svg; *at; at++) {
        if (*at != '$') {
            buf_put_byte(out, (uint8_t)*at);
            continue;
        }
        at++;
        assert(*at == 'b' || *at == 'd' || *at == 'l');
        put_color(out, *at == 'b'   ? color
                       : *at == 'd' ? mix(color, black, 35)
                                    : mix(color, white, 45));
    }
}

/* A wall, a floor and some light: what a room behind a thing looks like from afar. */
static void put_background(struct buf *out, struct rng *rng, struct rgb color)
{
    const struct rgb tints[] = {{232, 226, 214}, {214, 226, 234}, {226, 232, 220},
                                {236, 222, 220}, {222, 220, 236}, {238, 232, 208}};
    struct rgb tint = mix(tints[rng_below(rng, ARRAY_COUNT(tints))], color, 8);
    struct rgb white = {255, 255, 255};
    struct rgb floor_color = mix(tint, (struct rgb){90, 80, 70}, 18);
    unsigned horizon = 205 + (unsigned)rng_below(rng, 26);

    buf_put_text(out,
                 "<defs><linearGradient id='w' x1='0' y1='0' x2='0' y2='1'><stop stop-color='");
    put_color(out, mix(tint, white, 55));
    buf_put_text(out, "'/><stop offset='1' stop-color='");
    put_color(out, tint);
    buf_put_text(out, "'/></linearGradient></defs><rect width='400' height='300' fill='url(#w)'/>");
    buf_printf(out, "<rect y='%u' width='400' height='%u' fill='", horizon, 300 - horizon);
    put_color(out, floor_color);
    buf_put_text(out, "' opacity='.55'/>");
    for (int i = 0; i < 3; i++)
        buf_printf(out, "<circle cx='%u' cy='%u' r='%u' fill='#fff' opacity='.16'/>",
                   (unsigned)rng_below(rng, 400), (unsigned)rng_below(rng, 180),
                   24 + (unsigned)rng_below(rng, 60));
    buf_printf(out, "<ellipse cx='200' cy='254' rx='%u' ry='11' fill='#000' opacity='.14'/>",
               104 + (unsigned)rng_below(rng, 24));
}

void drawing_put(struct bytes name, struct bytes color, uint64_t number, struct buf *out)
{
    const struct drawing_shape *shape = find_shape(name);
    struct rng rng = rng_seeded(hash64_seeded(name, number));
    struct rgb body = color_of(color, number);
    int turn;
    unsigned size;

    buf_printf(out,
               "<svg xmlns='http://www.w3.org/2000/svg' width='%d' height='%d' "
               "viewBox='0 0 400 300'>",
               DRAWING_WIDTH, DRAWING_HEIGHT);
    put_background(out, &rng, body);
    turn = (int)rng_below(&rng, 5) - 2;
    size = 88 + (unsigned)rng_below(&rng, 19);
    buf_printf(out,
               "<g transform='translate(200 150) rotate(%d) scale(%s%u.%02u %u.%02u) "
               "translate(-200 -150)' stroke-linejoin='round' stroke-linecap='round'>",
               turn, number % 2 ? "-" : "", size / 100, size % 100, size / 100, size % 100);
    put_shape(out, shape ? shape->svg : drawing_shapes[0].svg, body);
    buf_put_text(out, "</g></svg>");
}
