/* SPDX-License-Identifier: Apache-2.0 */
/*
 * view.h - categories and attributes as clients see them: resolved, in one language.
 *
 * Everything is copied into the arena: the answer may outlive the version it was made from.
 */
#ifndef TORG_CATALOG_VIEW_H
#define TORG_CATALOG_VIEW_H

#include "catalog/catalog.h"

struct view {
    const struct catalog *catalog;
    enum language language;
    struct arena *arena;
};

void view_category(const struct view *view, const struct category *category,
                   Torg__V1__CategoryView *message);
Torg__V1__CategoryName *view_name(const struct view *view, const struct category *category);
Torg__V1__CategoryName **view_names(const struct view *view,
                                    const struct category *const *categories, size_t count);
Torg__V1__AttributeView *view_attribute(const struct view *view, const struct attribute *attribute);

#endif
