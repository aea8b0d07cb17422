# SPDX-License-Identifier: Apache-2.0
"""shelf.py - a market for tests of the pages: the demo catalogue and some offers of its sellers."""
import json
import random

from kit import tap
from kit.binary import TOP, Place

CITIES = [("Москва", 55.751, 37.618), ("Санкт-Петербург", 59.939, 30.314),
          ("Казань", 55.796, 49.106), ("Екатеринбург", 56.839, 60.606)]
BIKES = ["Горный велосипед Stels Navigator", "Шоссейный велосипед Merida Scultura",
         "Детский велосипед Forward", "Городской велосипед с корзиной", "Велосипед Trek Marlin 7"]
BOOKS = ["Книга о ремонте велосипеда", "Атлас дорог для путешествий", "Роман в двух томах"]
TOOLS = ["Набор отвёрток", "Молоток слесарный", "Ключ разводной", "Ножовка по дереву"]
COLORS = ["black", "white", "blue", "red", "green"]


def options(name):
    """Ids of the options of an attribute of the demo catalogue."""
    catalog = json.loads((TOP / "demo/catalog.json").read_text())
    attribute = next(each for each in catalog["attributes"] if each["id"] == name)
    return [option["id"] for option in attribute["options"]]


class Shelf(Place):
    """A server with bicycles, books and tools, all of them found by a search."""

    def __init__(self, bike_count=40):
        self.bike_count = bike_count

    def __enter__(self):
        super().__enter__().start()
        self.random = random.Random(6)
        self.ids = []
        self.seller = self.torg("key", "create", "s", "--seller", "romashka", "--scope",
                                "offers.read", "--scope", "offers.write").stdout.strip()
        types = options("bike-type")
        for number in range(12):
            self.publish("books", BOOKS[number % len(BOOKS)], 250 + 50 * number, number, [])
            self.publish("tools.hand", TOOLS[number % len(TOOLS)], 400 + 90 * number, number, [])
        for number in range(self.bike_count):
            self.publish("bikes", BIKES[number % len(BIKES)], 9000 + 1500 * number, number, [
                {"attributeId": "bike-type", "options": [types[number % 4]]},
                {"attributeId": "color", "options": [COLORS[number % len(COLORS)]]}])
        tap.wait_until(lambda: self.total({}) == len(self.ids), what="all offers are found")
        return self

    def publish(self, category, title, price, number, attributes, currency="RUB"):
        city, latitude, longitude = CITIES[number % len(CITIES)]
        content = {
            "category": category, "title": title, "attributes": attributes,
            "condition": "USED" if number % 3 else "NEW",
            "description": f"{title}. Состояние хорошее, торг уместен.\nНомер {number}. Забирать "
                           f"самовывозом, {city}. <b>Не обмен</b> & не рассрочка.",
            "price": {"amount": str(100 * price), "currency": currency},
            "address": {"text": city, "point": {
                "latitude": latitude + self.random.uniform(-.08, .08),
                "longitude": longitude + self.random.uniform(-.08, .08)}}}
        status, answer = self.call("OfferService/CreateOffer", {"content": content}, self.seller)
        tap.equal(status, 200, answer)
        self.ids.append(answer["id"])

    def total(self, request):
        status, answer = self.call("SearchService/SearchOffers", request)
        return int(answer.get("total", 0)) if status == 200 else -1
