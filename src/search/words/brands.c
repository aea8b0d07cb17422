/* SPDX-License-Identifier: Apache-2.0 */
/* brands.c - see brands.h. */
#include "search/words/brands.h"

#include "base/memory.h"

/* Of several ways to say a name the first is the one that the other script becomes. */
static const struct {
    const char *said, *written;
} brands[] = {
    {"бош", "bosch"},
    {"найк", "nike"},
    {"адидас", "adidas"},
    {"самсунг", "samsung"},
    {"эпл", "apple"},
    {"сони", "sony"},
    {"филипс", "philips"},
    {"хонда", "honda"},
    {"тойота", "toyota"},
    {"хендай", "hyundai"},
    {"хундай", "hyundai"},
    {"киа", "kia"},
    {"мазда", "mazda"},
    {"ниссан", "nissan"},
    {"форд", "ford"},
    {"рено", "renault"},
    {"пежо", "peugeot"},
    {"ситроен", "citroen"},
    {"шкода", "skoda"},
    {"фольксваген", "volkswagen"},
    {"мерседес", "mercedes"},
    {"бмв", "bmw"},
    {"ауди", "audi"},
    {"лексус", "lexus"},
    {"инфинити", "infiniti"},
    {"субару", "subaru"},
    {"сузуки", "suzuki"},
    {"мицубиси", "mitsubishi"},
    {"митсубиси", "mitsubishi"},
    {"шевроле", "chevrolet"},
    {"вольво", "volvo"},
    {"порше", "porsche"},
    {"джип", "jeep"},
    {"чери", "chery"},
    {"хавал", "haval"},
    {"джили", "geely"},
    {"ямаха", "yamaha"},
    {"кавасаки", "kawasaki"},
    {"макита", "makita"},
    {"метабо", "metabo"},
    {"хускварна", "husqvarna"},
    {"штиль", "stihl"},
    {"керхер", "karcher"},
    {"дайсон", "dyson"},
    {"браун", "braun"},
    {"тефаль", "tefal"},
    {"мулинекс", "moulinex"},
    {"занусси", "zanussi"},
    {"электролюкс", "electrolux"},
    {"аристон", "ariston"},
    {"индезит", "indesit"},
    {"вирпул", "whirlpool"},
    {"хаер", "haier"},
    {"сименс", "siemens"},
    {"миле", "miele"},
    {"деволт", "dewalt"},
    {"икеа", "ikea"},
    {"лего", "lego"},
    {"барби", "barbie"},
    {"рибок", "reebok"},
    {"пума", "puma"},
    {"асикс", "asics"},
    {"коламбия", "columbia"},
    {"зара", "zara"},
    {"гуччи", "gucci"},
    {"хуавей", "huawei"},
    {"хонор", "honor"},
    {"сяоми", "xiaomi"},
    {"ксиоми", "xiaomi"},
    {"нокиа", "nokia"},
    {"моторола", "motorola"},
    {"леново", "lenovo"},
    {"асус", "asus"},
    {"эйсер", "acer"},
    {"делл", "dell"},
    {"интел", "intel"},
    {"кэнон", "canon"},
    {"кенон", "canon"},
    {"никон", "nikon"},
    {"панасоник", "panasonic"},
    {"шарп", "sharp"},
    {"тошиба", "toshiba"},
    {"хитачи", "hitachi"},
    {"яндекс", "yandex"},
    {"гармин", "garmin"},
    {"мишлен", "michelin"},
    {"бриджстоун", "bridgestone"},
    {"нокиан", "nokian"},
    {"пирелли", "pirelli"},
    {"континенталь", "continental"},
};

const char *brand_other(struct bytes word)
{
    for (size_t i = 0; i < ARRAY_COUNT(brands); i++) {
        if (bytes_equal_text(word, brands[i].said))
            return brands[i].written;
        if (bytes_equal_text(word, brands[i].written))
            return brands[i].said;
    }
    return NULL;
}
