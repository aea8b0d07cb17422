/* SPDX-License-Identifier: Apache-2.0 */
/* The words of a title that say what the thing is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "base/memory.h"
#include "documents/title_head.h"

static const struct {
    const char *title, *head;
} cases[] = {
    {"Torrano 22 in. Gas Lawn Mower with Stanton Engine", "Lawn Mower"},
    {"Mower Blade for 22 in. Lawn Mowers", "Mower Blade"},
    {"Whirlwind 1.9 cu. ft. Over the Range Microwave in Stainless Steel", "Range Microwave"},
    {"DuraForge 20-Volt Max 1/2 in. Drill/Driver Kit", "Drill/Driver Kit"},
    {"Rydell 18-Volt Cordless Drill Kit (2-Tool)", "Cordless Drill Kit"},
    {"Weave Bamboo Rollup Shade - 96 in. W x 72 in. L", "Rollup Shade"},
    {"House of Farrow 3/4 in. x 8 ft. MDF Fluted Casing", "Fluted Casing"},
    {"36 in Vanity", "Vanity"},
    {"iPhone 13, case included", "iPhone"},
    {"Чехол для телефона", "Чехол"},
    {"Новый ноутбук Lenovo IdeaPad", "ноутбук"},
    {"Продам кожаный диван", "диван"},
    {"Ремонт телефонов", "Ремонт"},
    {"Samsung Galaxy S23, синий", "Samsung Galaxy"},
    {"Huawei nova 11 128 ГБ", "Huawei nova"},
    {"Frigidora 25 cu. ft. Side by Side Refrigerator in Black", "Side Refrigerator"},
    {"Delmar Drop in Sink", "Sink"},
    {"Drop in Stainless Steel 33 in. Kitchen Sink", "Kitchen Sink"},
    {"Kitchen Sink Drop in Stainless Steel", "Kitchen Sink"},
    {"Kitchen Sink Drop in", "Kitchen Sink"},
    {"Boschert Built in Oven with Timer", "Oven"},
    {"Cup Cabinet Pull in White", "Cabinet Pull"},
    {"Single Cylinder Door Lock in Polished Chrome", "Door Lock"},
    {"Stranded Electrical Wire in Sandstone", "Electrical Wire"},
    {"Drawer Slide in Zinc", "Drawer Slide"},
    {"Drawer Slide in Satin Nickel", "Drawer Slide"},
    {"Whirlwood Slide in Gas Range", "Gas Range"},
    {"Round Toilet -DISCONTINUED", "Round Toilet"},
    {"Clip on Light for Desk", "Light"},
    {"Shaker Ready to Assemble Base Cabinet in White", "Base Cabinet"},
    {"Base Cabinet Ready to Assemble", "Base Cabinet"},
    {"Wall to Wall Carpet", "Wall Carpet"},
    {"Torrano On Demand Water Heater", "Water Heater"},
    {"Sonar In Wall Speaker", "Wall Speaker"},
    {"Area Rug by Home Decorum", "Area Rug"},
    {"Vanity Top Included in Price", "Top Included"},
    {"Toilet Seat White", "Toilet Seat"},
    {"Bath Faucet Oil Rubbed Bronze", "Bath Faucet"},
    {"Dishwasher Stainless Steel", "Dishwasher"},
    {"Ceiling Light White", "Ceiling Light"},
    {"White Toilet", "White Toilet"},
    {"Walnut", "Walnut"},
    {"Garden Hose 50 Feet", "Garden Hose"},
    {"Interior Paint 5 Gal.", "Interior Paint"},
    {"LED Light Bulb 60 Watt 4 Pack", "Light Bulb"},
    {"220 в", ""},
    {"", ""},
    {"(  ", ""},
};

static void heads_are_found(void **state)
{
    struct arena *arena = arena_new();

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++)
        assert_string_equal(title_head(cases[i].title, arena), cases[i].head);
    arena_free(arena);
}

static void categories_tell_what_makers_words_do_not(void **state)
{
    struct arena *arena = arena_new();

    (void)state;
    assert_string_equal(head_by_category("Stels Navigator", "Mountain bicycle Stels Navigator 710",
                                         "Bicycles", arena),
                        "bicycle");
    assert_string_equal(
        head_by_category("Nike Pegasus", "Running shoe Nike Pegasus", "Shoes", arena), "shoe");
    assert_string_equal(head_by_category("Bicycle Pump", "Stels Bicycle Pump", "Bicycles", arena),
                        "Bicycle Pump");
    assert_string_equal(
        head_by_category("Bosch Serie", "Built in Oven Bosch Serie 8", "Ovens", arena), "oven");
    assert_string_equal(
        head_by_category("Front Light", "Front Light for a bicycle", "Bicycles", arena),
        "Front Light");
    assert_string_equal(head_by_category("Велосипед", "Велосипед bicycle", "Bicycles", arena),
                        "Велосипед");
    assert_string_equal(head_by_category("Toyota Camry", "Toyota Camry", "Cars", arena),
                        "Toyota Camry");
    arena_free(arena);
}

static void the_last_word_is_the_thing(void **state)
{
    (void)state;
    assert_string_equal(head_thing("Arch Cabinet Pull"), "Pull");
    assert_string_equal(head_thing("Cordless Drill Kit"), "Cordless Drill Kit");
    assert_string_equal(head_thing("Vanity"), "Vanity");
    assert_string_equal(head_thing(""), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(heads_are_found),
                                       cmocka_unit_test(categories_tell_what_makers_words_do_not),
                                       cmocka_unit_test(the_last_word_is_the_thing)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
