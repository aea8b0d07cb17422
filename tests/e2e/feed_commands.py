# SPDX-License-Identifier: Apache-2.0
"""torg feed: what its commands say, in Russian too."""
import re

from kit import tap
from kit.feed_market import Running


def latin(text, *theirs):
    """Words of a Russian text that are not; theirs: names, numbers with units, commands."""
    for each in theirs:
        text = re.sub(each, "", text)
    return re.findall(r"[A-Za-z]{2,}", text)


@tap.test
def commands_tell_all_in_russian():
    theirs = (r"torg feed \w+( --seller s-1)?( \d+| show)?", r"feeds\.guard_\w+", r"\d+T\d+:\d+:\d+Z?",
              r"\w+\.(yml|csv)", "main", "csv", "s-1", "yml", "KB|MB", "vendor", "http://[^ ]*",
              r"(item|sku)-\d+", "127.0.0.1")

    with Running() as market:
        def said(*words, code=0):
            done = market.torg("feed", *words, "--seller", "s-1", "--language", "ru")
            tap.equal(done.returncode, code, done.stderr + done.stdout)
            tap.equal(latin(done.stdout, *theirs), [], done.stdout)
            return done.stdout

        market.generate("all.yml", 100)
        market.generate("few.yml", 40)
        market.write("goods.csv", "id;Категория;Название;Цена;Цвет\n1;Освещение;Лампа;20;в горошек\n")
        market.write("map.csv", "Люстры,lighting\n")
        tap.contains(said("list"), "у фида main продавца s-1 нет загрузок")
        tap.contains(said("import", "all.yml"), "загрузка 1 фида main: готово")
        tap.contains(said("import", "few.yml", "--report", "rows.csv", code=1),
                     "загрузка 2 фида main ждёт решения: она удалила бы 60 из 100 объявлений фида")
        tap.contains(said("show"), "Она удалила бы\n")
        tap.contains(said("list"), "ждёт решения           ")
        tap.contains(said("confirm", "2"), "удалено              60")
        tap.contains(said("undo", "2"), "отменено")
        tap.contains(said("import", "goods.csv", "--dry-run", code=0), "проверка: ничего не изменено")
        tap.contains(said("import", "few.yml", code=1), "ждёт решения")
        tap.contains(said("cancel", "4"), "оставлено")
        tap.contains(said("categories", "set", "map.csv"), "сохранена")
        tap.contains(said("categories", "remove"), "забыта")
        tap.contains(said("report", "--groups", "3"), "в горошек")
        tap.contains(said("schedule", "list"), "ни у одного фида продавца s-1 нет адреса")
        tap.contains(said("schedule", "add", "http://127.0.0.1:1/goods.csv"), "раз в 1h, работает")
        failed = said("schedule", "run")
        tap.contains(failed, "не получилось")
        tap.contains(said("schedule", "remove"), "больше не забирают")
        tap.equal(market.stop(), 0)


@tap.test
def a_small_feed_is_not_guarded_and_that_is_told():
    with Running() as market:
        market.generate("ten.yml", 10)
        market.generate("one.yml", 1)
        market.counts("ten.yml")
        told = market.import_feed("one.yml").stdout
        tap.contains(told, "deleted               9\n")
        tap.contains(told, "task 2 of feed main is done\ndeleted 9 of the 10 offers that the feed "
                     "had; feeds.guard_min and feeds.guard_share hold nothing for so many\nuntil ")
        market.generate("many.yml", 30)
        market.counts("many.yml")
        market.import_feed("one.yml", code=1)
        confirmed = market.feed("confirm", "4").stdout
        tap.equal("feeds.guard_min" in confirmed, False, confirmed)     # somebody has decided
        tap.equal(market.stop(), 0)


tap.main()
