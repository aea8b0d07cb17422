// SPDX-License-Identifier: Apache-2.0
// reasons.js - why the server does not take a field of an offer or a row of a feed, in Russian. The
// server says it in English; a pattern here has its words, and {name} is what the pattern found.
// A test holds that every reason of those checks is known (tests/e2e/cabinet_page.py).
import { h, language, t } from "../common.js";

const RUSSIAN = [
  /* an offer */
  [/^is missing$/, "не заполнено"],
  [/^is missing: (?<min>\d+) to (?<max>\d+) characters$/, "не заполнено: от {min} до {max} знаков"],
  [/^has (?<count>\d+) characters; expected (?<min>\d+) to (?<max>\d+)$/,
    "знаков: {count}, нужно от {min} до {max}"],
  [/^has a control character$/, "есть знак, который не печатается: перенос строки, табуляция"],
  [/^"(?<value>.*)" is not taken here; expected one of (?<list>.*)$/,
    "валюта «{value}» здесь не принимается; можно: {list}"],
  [/^offers of this category have no price$/, "в этой категории цену не указывают"],
  [/^-?\d+ is not between \d+ and \d+$/, "нужно число: не меньше нуля и не слишком большое"],
  [/^(?<count>\d+) photos; expected (?<min>\d+) to (?<max>\d+)$/,
    "{count} фото, нужно от {min} до {max}"],
  [/^expected an address with http or https, or of an upload$/,
    "нужен адрес, начинающийся с http:// или https://"],
  [/^(?:has )?(?<count>\d+) bytes; the limit is (?<max>\d+)$/,
    "слишком длинно: {count} байт, можно {max}"],
  [/^expected -(?<max>\d+) to \d+ degrees$/, "нужны градусы от −{max} до {max}"],
  [/^(?<count>\d+) phones; at most (?<max>\d+)$/, "телефонов: {count}, можно не больше {max}"],
  [/^expected \+ and 7 to 15 digits, as (?<sample>.*)$/,
    "нужны + и от 7 до 15 цифр, например {sample}"],
  [/^expected an address, as (?<sample>.*)$/, "нужен адрес почты, например {sample}"],
  [/^offers of this category have no condition$/, "в этой категории состояние не указывают"],
  [/^offers of this category have no delivery$/, "в этой категории доставку не указывают"],
  [/^offers of this category have no exchange$/, "в этой категории обмен не указывают"],
  [/^offers of this category have no seller kind$/, "в этой категории не указывают, кто продаёт"],
  [/^offers of this category have no salary$/, "в этой категории зарплату не указывают"],
  [/^offers of this category have no .*$/, "в этой категории этого не указывают"],
  [/^needs min, max or both$/, "укажите, от какой суммы, до какой или то и другое"],
  [/^(?<max>\d+) is below the min, (?<min>\d+)$/, "сумма «до» меньше суммы «от»"],
  [/^expected HOUR, SHIFT, WEEK, MONTH or YEAR$/, "нужно одно из: час, смена, неделя, месяц, год"],
  [/^expected PRIVATE or BUSINESS$/, "нужно одно из: частное лицо, компания"],
  [/^expected NEW, USED or BROKEN$/, "нужно одно из: новое, б/у, на запчасти"],
  [/^there is no category "(?<value>.*)"$/, "категории «{value}» нет"],
  /* its attributes */
  [/^".*" \([\w.-]+\) is required here$/, "нужно заполнить"],
  [/^"(?<name>.*)" is chosen from options: give their ids in options$/,
    "«{name}» выбирают из списка"],
  [/^"(?<name>.*)" has no value; leave it out, or name an option$/, "«{name}»: ничего не выбрано"],
  [/^"(?<name>.*)" has no options: give its value in (?<field>.*)$/,
    "«{name}» не выбирают из списка: нужно само значение ({field})"],
  [/^"(?<name>.*)" needs a value in the field (?<field>.*)$/,
    "«{name}»: нужно значение другого вида ({field})"],
  [/^"(?<name>.*)" is not measured in "(?<unit>.*)"; in "(?<sample>.*)", for example$/,
    "«{name}» не измеряют в «{unit}»; можно, например, в «{sample}»"],
  [/^"(?<name>.*)" has no units$/, "«{name}» указывают без единицы"],
  [/^(?<value>.*) is below (?<limit>.*), the minimum of "(?<name>.*)"$/,
    "{value}: меньше, чем можно ({limit})"],
  [/^(?<value>.*) is above (?<limit>.*), the maximum of "(?<name>.*)"$/,
    "{value}: больше, чем можно ({limit})"],
  [/^(?<value>\S+) is too large$/, "{value}: слишком большое число"],
  [/^"(?<value>.*)" is not a number such as 17.5, with at most (?<max>\d+) digits after the point$/,
    "«{value}» — не число: нужно, например, 17,5, не больше {max} знаков после запятой"],
  [/^(?<value>.*) has more than (?<max>\d+) digits after the point, the most of "(?<name>.*)"$/,
    "{value}: знаков после запятой может быть не больше {max}"],
  [/^".*" is empty; leave it out instead$/, "не заполнено"],
  [/^(?<count>\d+) characters; ".*" has at least (?<min>\d+)$/,
    "знаков: {count}, нужно не меньше {min}"],
  [/^(?<count>\d+) characters; ".*" has at most (?<max>\d+)$/,
    "знаков: {count}, можно не больше {max}"],
  [/^(?<count>\d+) options; (?:".*" has )?at most (?<max>\d+)(?: are looked at)?$/,
    "выбрано {count}, можно не больше {max}"],
  [/^"(?<name>.*)" has no option "(?<value>.*)" in this category$/,
    "в этой категории у «{name}» нет значения «{value}»"],
  [/^the category "(?<name>.*)" has no attribute "(?<value>.*)"$/,
    "в категории «{name}» нет характеристики «{value}»"],
  [/^"(?<name>.*)" has a value at .* too$/, "«{name}» указано дважды"],
  [/^(?<count>\d+) values; the limit is (?<max>\d+)$/, "значений: {count}, можно {max}"],
  /* a row of a feed */
  [/^(?<name>.*): is left out: a name of up to (?<least>\d+) characters and a value of up to (?<max>\d+) are kept$/,
    "{name}: не взято, название длиннее {least} знаков или значение длиннее {max}"],
  [/^(?<name>.*): is left out: up to (?<count>\d+) such values, of (?<max>\d+) bytes together, are kept$/,
    "{name}: не взято, таких значений может быть до {count}, вместе до {max} байт"],
  [/^is given twice$/, "указано дважды"],
  [/^is shortened from (?<count>\d+) characters to (?<max>\d+)$/,
    "сокращено: было знаков {count}, стало {max}"],
  [/^"(?<value>.*)" is rounded: \w+ has (?<max>\d+) digits behind the point$/,
    "«{value}» округлено: в этой валюте знаков после запятой {max}"],
  [/^is 0: buyers are told that it is free$/, "0: для покупателей это «бесплатно»"],
  [/^row (?<row>\d*\w*) has the same id and counts instead$/,
    "такой же номер в строке {row}: действует она"],
  [/^is not available: the offer is withdrawn$/, "нет в наличии: объявление снято"],
  [/^is not available: the offer is withdrawn at the end of the task$/,
    "нет в наличии: объявление снимается в конце загрузки"],
  [/^is available again: the offer is back$/, "снова в наличии: объявление вернулось"],
  [/^is not available, and stays as its seller has republished it since$/,
    "нет в наличии; объявление вернули вручную, и оно остаётся"],
  [/^is that of an earlier row of this file too: the later row holds$/,
    "такой номер уже был в этом файле: действует последняя строка"],
  [/^is not valid UTF-8$/, "это не UTF-8"],
  [/^has (?<count>\d+) cells; the first line names (?<wanted>\d+) columns$/,
    "ячеек: {count}, а в первой строке столбцов: {wanted}"],
  [/^has a quote that is not closed$/, "кавычка не закрыта"],
  [/^"(?<value>.*)" is not a web address(?: of at most (?<max>\d+) bytes)?$/,
    "«{value}» — не адрес в сети или слишком длинный"],
  [/^photos above the limit of (?<max>\d+) are left out$/, "взяты первые {max} фото"],
  [/^"(?<value>.*)" is not a phone number$/, "«{value}» — не номер телефона"],
  [/^"(?<value>.*)" is not known and left out$/, "«{value}» не распознано и не взято"],
  [/^phones above the limit of (?<max>\d+) are left out$/, "взяты первые {max} телефонов"],
  [/^"(?<value>.*)" has no name$/, "у значения «{value}» нет названия"],
  [/^more than (?<max>\d+)$/, "больше {max}"],
  [/^its text is longer than (?<max>\d+) bytes$/, "текст длиннее {max} байт"],
  [/^"(?<value>.*)" is not a currency; write RUB$/, "«{value}» — не валюта; пишите RUB"],
  [/^"(?<value>.*)" is not a number from -(?<max>\d+) to \d+$/,
    "«{value}» — не число от −{max} до {max}"],
  [/^"(?<value>.*)" is not known; write new, used or broken$/,
    "«{value}» не распознано; пишите new, used или broken"],
  [/^"(?<value>.*)" is not true or false$/, "«{value}» — не true и не false"],
  [/^is needed to delete an offer$/, "без него не понять, какое объявление удалить"],
  [/^the offer is \S+ and stays so$/, "объявление снято, продано или отклонено и таким остаётся"],
  [/^the offer had expired and is prolonged$/, "срок объявления истёк, оно продлено"],
  [/^the feed "(?<feed>.*)" has an offer of this name: end it there first$/,
    "объявление с таким номером есть в фиде «{feed}»: сначала уберите его там"],
  [/^there is no such offer$/, "такого объявления нет"],
  [/^is deleted at the end of the task$/, "будет удалено в конце загрузки"],
  /* its price */
  [/^"(?<value>.*)" has more than 15 digits$/, "«{value}»: больше 15 цифр"],
  [/^"(?<value>.*)" is not a number; write 1999 or 1999.50$/,
    "«{value}» — не число; пишите 1999 или 1999.50"],
  [/^"(?<value>.*)" could be thousands or a fraction; write 1999 or 1.99$/,
    "«{value}»: тысячи это или дробь? Пишите 1999 или 1.99"],
  [/^"(?<value>.*)" is negative$/, "«{value}»: меньше нуля"],
  [/^"(?<value>.*)" is not a number with a known currency; write 1999.50, or 1999.50 RUB$/,
    "«{value}» — не число с известной валютой; пишите 1999.50 или 1999.50 RUB"],
  [/^"(?<value>.*)" has more digits behind the point than its currency$/,
    "«{value}»: после точки больше цифр, чем бывает в этой валюте"],
  [/^"(?<value>.*)" is too large$/, "«{value}»: слишком большое число"],
  [/^"(?<value>.*)" has another currency than the row says elsewhere$/,
    "«{value}»: валюта не та, что в другом месте строки"],
  /* its category */
  [/^"(?<value>.*)" may be (?<one>.*) or (?<other>.*); say which in a --categories file$/,
    "«{value}»: это может быть {one} или {other}; напишите в фиде, что именно"],
  [/^the catalogue has no category "(?<value>.*?)".*; say which it is in a --categories file$/,
    "категории «{value}» в каталоге нет; напишите в фиде одну из тех, что есть"],
  [/^the feed has no name for its category "(?<value>.*)", and the catalogue no such id; .*$/,
    "у категории «{value}» нет названия в фиде; напишите, какая это из категорий каталога"],
  [/^the --categories file gives its category none of ours$/,
    "файл --categories не даёт этой категории ни одной из наших"],
  [/^the row names no category$/, "категория не указана"],
];

// In the page's language; "" when it is not known in it.
export function reasonText(reason) {
  if (language() === "en") return reason;
  for (const [pattern, words] of RUSSIAN) {
    const found = pattern.exec(reason);
    if (found) return words.replace(/\{(\w+)\}/g, (_, name) => found.groups?.[name] ?? "");
  }
  return "";
}

// What stands at the place it is about: words that are known, or the server's own.
export function reasonNode(reason) {
  const text = reasonText(reason);
  return text || h("span", { lang: "en" }, reason);
}

// Fields that a person can name, and their words; others are shown as the server calls them.
const FIELDS = { title: "fTitle", description: "fDescription", price: "fPrice",
  currency: "fCurrency", category: "category", condition: "fCondition", attributes: "fAttributes",
  photos: "fPhotos", address: "fAddress", latitude: "fLatitude", longitude: "fLongitude",
  phones: "fPhones", email: "fEmail", external_id: "rowId", row: "rowNumber" };

export function fieldText(field) {
  const name = FIELDS[field.replace(/^content\./, "")];
  return name ? t(name) : field;
}
