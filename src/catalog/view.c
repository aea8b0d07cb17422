/* SPDX-License-Identifier: Apache-2.0 */
/* view.c - see view.h. */
#include "catalog/view.h"

#include "codec/message.h"

static char *copy(const struct view *view, const char *text)
{
    return arena_strdup(view->arena, text);
}

static char *local(const struct view *view, const struct local_text *text)
{
    return copy(view, text->in[view->language]);
}

static char *decimal_copy(const struct view *view, struct decimal value)
{
    char text[DECIMAL_TEXT_SIZE];

    decimal_format(value, text);
    return copy(view, text);
}

/* --- attributes --- */

static void put_options(const struct view *view, const struct attribute *attribute,
                        Torg__V1__AttributeView *message)
{
    message->options =
        arena_array(view->arena, attribute->option_count + 1, sizeof(message->options[0]));
    for (size_t i = 0; i < attribute->option_count; i++) {
        const struct attribute_option *option = attribute->options[i];
        Torg__V1__OptionView *made = MESSAGE_NEW(option_view, view->arena);

        made->id = copy(view, option->id);
        made->name = local(view, &option->name);
        if (option->parent)
            made->parent = copy(view, option->parent->id);
        message->options[message->n_options++] = made;
    }
}

static void put_units(const struct view *view, const struct attribute *attribute,
                      Torg__V1__AttributeView *message)
{
    message->units = arena_array(view->arena, attribute->unit_count + 1, sizeof(message->units[0]));
    for (size_t i = 0; i < attribute->unit_count; i++) {
        Torg__V1__UnitView *made = MESSAGE_NEW(unit_view, view->arena);

        made->id = copy(view, attribute->units[i].id);
        made->name = local(view, &attribute->units[i].name);
        made->factor = decimal_copy(view, attribute->units[i].factor);
        message->units[message->n_units++] = made;
    }
}

Torg__V1__AttributeView *view_attribute(const struct view *view, const struct attribute *attribute)
{
    Torg__V1__AttributeView *message = MESSAGE_NEW(attribute_view, view->arena);

    message->id = copy(view, attribute->id);
    message->name = local(view, &attribute->name);
    message->type = attribute->type;
    message->required = attribute->required;
    message->filter = attribute->filter;
    if (attribute->has_min)
        message->min = decimal_copy(view, attribute->min);
    if (attribute->has_max)
        message->max = decimal_copy(view, attribute->max);
    message->length_min = attribute->length_min;
    message->length_max = attribute->length_max;
    message->count_max = attribute->count_max;
    message->digits = attribute->digits;
    message->origin = copy(view, attribute->origin->id);
    put_options(view, attribute, message);
    put_units(view, attribute, message);
    return message;
}

/* --- categories --- */

static void put_synonyms(const struct view *view, const struct category *category,
                         Torg__V1__CategoryView *message)
{
    const Torg__V1__LocalWords *words = category->message->synonyms;
    size_t count;
    char **list;

    if (!words)
        return;
    count = view->language == LANGUAGE_RU ? words->n_ru : words->n_en;
    list = view->language == LANGUAGE_RU ? words->ru : words->en;
    message->synonyms = arena_array(view->arena, count + 1, sizeof(message->synonyms[0]));
    for (size_t i = 0; i < count; i++)
        message->synonyms[message->n_synonyms++] = copy(view, list[i]);
}

static void put_filters(const struct view *view, const struct category *category,
                        Torg__V1__CategoryView *message)
{
    int last = category_filter_last();

    message->filters = arena_array(view->arena, (size_t)last + 1, sizeof(message->filters[0]));
    for (int i = 1; i <= last; i++) {
        if (category_has_filter(category, i))
            message->filters[message->n_filters++] = i;
    }
}

static Torg__V1__Policy *view_policy(const struct view *view, const struct policy *policy)
{
    Torg__V1__Policy *message = MESSAGE_NEW(policy, view->arena);

    message->_photos_min_case = TORG__V1__POLICY___PHOTOS_MIN_PHOTOS_MIN;
    message->photos_min = policy->photos_min;
    message->_photos_max_case = TORG__V1__POLICY___PHOTOS_MAX_PHOTOS_MAX;
    message->photos_max = policy->photos_max;
    message->publish = policy->publish;
    message->_photo_wait_s_case = TORG__V1__POLICY___PHOTO_WAIT_S_PHOTO_WAIT_S;
    message->photo_wait_s = policy->photo_wait_s;
    message->price = policy->price;
    message->_title_min_case = TORG__V1__POLICY___TITLE_MIN_TITLE_MIN;
    message->title_min = policy->title_min;
    message->_title_max_case = TORG__V1__POLICY___TITLE_MAX_TITLE_MAX;
    message->title_max = policy->title_max;
    message->_description_min_case = TORG__V1__POLICY___DESCRIPTION_MIN_DESCRIPTION_MIN;
    message->description_min = policy->description_min;
    message->_description_max_case = TORG__V1__POLICY___DESCRIPTION_MAX_DESCRIPTION_MAX;
    message->description_max = policy->description_max;
    message->_lifetime_days_case = TORG__V1__POLICY___LIFETIME_DAYS_LIFETIME_DAYS;
    message->lifetime_days = policy->lifetime_days;
    message->currencies =
        arena_array(view->arena, policy->currency_count + 1, sizeof(message->currencies[0]));
    for (size_t i = 0; i < policy->currency_count; i++)
        message->currencies[message->n_currencies++] = copy(view, policy->currencies[i]);
    return message;
}

void view_category(const struct view *view, const struct category *category,
                   Torg__V1__CategoryView *message)
{
    message->id = copy(view, category->id);
    message->parent = copy(view, category->parent ? category->parent->id : "");
    message->name = local(view, &category->name);
    message->child_count = (int32_t)category->child_count;
    message->version = catalog_version(view->catalog);
    message->policy = view_policy(view, &category->policy);
    put_synonyms(view, category, message);
    put_filters(view, category, message);
    message->attributes =
        arena_array(view->arena, category->attribute_count + 1, sizeof(message->attributes[0]));
    for (size_t i = 0; i < category->attribute_count; i++)
        message->attributes[i] = view_attribute(view, category->attributes[i]);
    message->n_attributes = category->attribute_count;
}

Torg__V1__CategoryName *view_name(const struct view *view, const struct category *category)
{
    Torg__V1__CategoryName *message = MESSAGE_NEW(category_name, view->arena);

    message->id = copy(view, category->id);
    message->parent = copy(view, category->parent ? category->parent->id : "");
    message->name = local(view, &category->name);
    message->child_count = (int32_t)category->child_count;
    return message;
}

Torg__V1__CategoryName **view_names(const struct view *view,
                                    const struct category *const *categories, size_t count)
{
    Torg__V1__CategoryName **list = arena_array(view->arena, count + 1, sizeof(list[0]));

    for (size_t i = 0; i < count; i++)
        list[i] = view_name(view, categories[i]);
    return list;
}
