/* SPDX-License-Identifier: Apache-2.0 */
/* drawing_shapes.c - the shapes of drawing.h, on 400 by 300, standing on a floor at 254. */
#include "base/memory.h"
#include "demo/drawing.h"

/* clang-format off */
const struct drawing_shape drawing_shapes[] = {
    {"box", /* the first stands for what is not known */
     "<path d='M110 120l90-34 90 34v96l-90 36-90-36z' fill='$b'/><path d='M110 120l90 "
     "36v96l-90-36z' fill='$d'/><path d='M110 120l90-34 90 34-90 36z' fill='$l'/><path "
     "d='M155 103l90 35v34l-22 9v-34l-90-36z' fill='#fff' opacity='.5'/>"},
    {"phone",
     "<rect x='146' y='48' width='108' height='206' rx='17' fill='$d'/><rect x='142' y='46' "
     "width='108' height='206' rx='17' fill='$b'/><rect x='149' y='54' width='94' "
     "height='190' rx='11' fill='#23262e'/><path d='M149 150l94-60v-25a11 11 0 0 "
     "0-11-11h-72a11 11 0 0 0-11 11z' fill='#fff' opacity='.14'/><circle cx='196' cy='62' "
     "r='3.4' fill='#555b66'/><rect x='178' y='236' width='36' height='3' rx='1.5' "
     "fill='#9aa1ac'/>"},
    {"phone-buttons",
     "<rect x='152' y='50' width='96' height='204' rx='18' fill='$b'/><rect x='162' y='64' "
     "width='76' height='70' rx='5' fill='#b9d7c0'/><circle cx='200' cy='154' r='13' "
     "fill='$d'/><g fill='$l'><rect x='164' y='176' width='20' height='12' rx='4'/><rect "
     "x='190' y='176' width='20' height='12' rx='4'/><rect x='216' y='176' width='20' "
     "height='12' rx='4'/><rect x='164' y='196' width='20' height='12' rx='4'/><rect "
     "x='190' y='196' width='20' height='12' rx='4'/><rect x='216' y='196' width='20' "
     "height='12' rx='4'/><rect x='164' y='216' width='20' height='12' rx='4'/><rect "
     "x='190' y='216' width='20' height='12' rx='4'/><rect x='216' y='216' width='20' "
     "height='12' rx='4'/></g>"},
    {"laptop",
     "<rect x='108' y='84' width='184' height='124' rx='9' fill='$d'/><rect x='116' y='92' "
     "width='168' height='108' rx='4' fill='#27303d'/><path d='M116 176l120-84h48v28L172 "
     "200h-56z' fill='#fff' opacity='.1'/><path d='M74 212h252l14 30a8 8 0 0 1-8 10H68a8 8 "
     "0 0 1-8-10z' fill='$b'/><path d='M96 218h208l7 15H89z' fill='$d' opacity='.6'/><rect "
     "x='168' y='237' width='64' height='9' rx='3' fill='$l'/>"},
    {"computer",
     "<rect x='236' y='86' width='82' height='166' rx='6' fill='$b'/><rect x='246' y='98' "
     "width='62' height='12' rx='2' fill='$d'/><rect x='246' y='116' width='62' height='12' "
     "rx='2' fill='$d'/><circle cx='277' cy='214' r='22' fill='$d'/><circle cx='277' "
     "cy='214' r='12' fill='$l'/><rect x='76' y='104' width='144' height='96' rx='6' "
     "fill='#2b313c'/><rect x='83' y='111' width='130' height='82' fill='#86a9c4'/><path "
     "d='M134 200h28l6 44h-40z' fill='#3a414d'/><rect x='112' y='242' width='72' height='8' "
     "rx='4' fill='#2b313c'/>"},
    {"monitor",
     "<rect x='82' y='66' width='236' height='146' rx='8' fill='#2a2f39'/><rect x='90' "
     "y='74' width='220' height='128' fill='$l'/><path d='M90 170c60-60 100 20 "
     "220-50v82H90z' fill='$b'/><path d='M180 212h40l8 34h-56z' fill='#3b424e'/><rect "
     "x='146' y='243' width='108' height='9' rx='4' fill='#2a2f39'/>"},
    {"tablet",
     "<rect x='120' y='52' width='160' height='202' rx='14' fill='$b'/><rect x='130' y='66' "
     "width='140' height='174' rx='3' fill='#26303a'/><path d='M130 190l140-110v-14H130z' "
     "fill='#fff' opacity='.13'/><circle cx='200' cy='247' r='3' fill='$d'/>"},
    {"tv",
     "<rect x='62' y='66' width='276' height='162' rx='6' fill='#20242c'/><rect x='68' "
     "y='72' width='264' height='148' fill='#31506b'/><circle cx='262' cy='110' r='20' "
     "fill='#f3dca0'/><path d='M68 190l60-50 46 34 60-58 98 78v26H68z' "
     "fill='#4f7f64'/><path d='M128 228l-16 24M272 228l16 24' stroke='#20242c' "
     "stroke-width='9'/>"},
    {"headphones",
     "<path d='M112 196v-24a88 88 0 0 1 176 0v24' fill='none' stroke='$b' "
     "stroke-width='17'/><path d='M120 150a84 84 0 0 1 160 0' fill='none' stroke='$l' "
     "stroke-width='5' opacity='.7'/><rect x='96' y='174' width='46' height='76' rx='18' "
     "fill='$d'/><rect x='258' y='174' width='46' height='76' rx='18' fill='$d'/><rect "
     "x='132' y='178' width='16' height='68' rx='8' fill='$b'/><rect x='252' y='178' "
     "width='16' height='68' rx='8' fill='$b'/>"},
    {"speaker",
     "<rect x='136' y='56' width='128' height='196' rx='12' fill='$b'/><circle cx='200' "
     "cy='104' r='25' fill='$d'/><circle cx='200' cy='104' r='11' fill='$l'/><circle "
     "cx='200' cy='190' r='46' fill='$d'/><circle cx='200' cy='190' r='32' "
     "fill='$b'/><circle cx='200' cy='190' r='13' fill='$l'/>"},
    {"camera",
     "<path d='M92 108h62l14-24h64l14 24h62a14 14 0 0 1 14 14v112a14 14 0 0 1-14 14H92a14 "
     "14 0 0 1-14-14V122a14 14 0 0 1 14-14z' fill='$b'/><rect x='78' y='140' width='244' "
     "height='70' fill='$d' opacity='.55'/><circle cx='200' cy='176' r='58' "
     "fill='#2a2e36'/><circle cx='200' cy='176' r='42' fill='#4a5a72'/><circle cx='200' "
     "cy='176' r='22' fill='#1d222b'/><circle cx='186' cy='160' r='10' fill='#fff' "
     "opacity='.6'/><rect x='98' y='118' width='34' height='14' rx='4' fill='$l'/>"},
    {"gamepad",
     "<path d='M126 120h148c44 0 62 50 68 92 4 30-30 44-52 18l-26-30H136l-26 30c-22 26-56 "
     "12-52-18 6-42 24-92 68-92z' fill='$b'/><path d='M128 "
     "146h16v16h16v16h-16v16h-16v-16h-16v-16h16z' fill='$d'/><g fill='$l'><circle cx='272' "
     "cy='150' r='9'/><circle cx='272' cy='188' r='9'/><circle cx='253' cy='169' "
     "r='9'/><circle cx='291' cy='169' r='9'/></g><circle cx='174' cy='196' r='15' "
     "fill='$d'/><circle cx='226' cy='196' r='15' fill='$d'/>"},
    {"fridge",
     "<rect x='136' y='34' width='128' height='216' rx='9' fill='$b'/><rect x='136' y='34' "
     "width='128' height='76' rx='9' fill='$l'/><path d='M136 110h128' stroke='$d' "
     "stroke-width='4'/><path d='M152 58v34M152 128v50' stroke='$d' stroke-width='7'/><rect "
     "x='146' y='250' width='18' height='6' fill='#444'/><rect x='236' y='250' width='18' "
     "height='6' fill='#444'/>"},
    {"washer",
     "<rect x='118' y='62' width='164' height='190' rx='9' fill='$b'/><rect x='118' y='62' "
     "width='164' height='36' rx='9' fill='$l'/><circle cx='140' cy='80' r='9' "
     "fill='$d'/><rect x='206' y='73' width='62' height='14' rx='3' fill='$d'/><circle "
     "cx='200' cy='174' r='59' fill='$d'/><circle cx='200' cy='174' r='46' "
     "fill='#9cc0d4'/><path d='M156 186c20-18 40 12 88-10a46 46 0 0 1-88 10z' fill='#fff' "
     "opacity='.6'/>"},
    {"stove",
     "<rect x='116' y='70' width='168' height='182' rx='6' fill='$b'/><path d='M116 92h168' "
     "stroke='$d' stroke-width='5'/><g fill='$d'><circle cx='140' cy='110' r='8'/><circle "
     "cx='170' cy='110' r='8'/><circle cx='200' cy='110' r='8'/><circle cx='230' cy='110' "
     "r='8'/></g><rect x='134' y='134' width='132' height='96' rx='6' fill='#2c2f36'/><path "
     "d='M134 204l100-70h32v26l-80 70h-52z' fill='#fff' opacity='.13'/><rect x='144' "
     "y='124' width='112' height='6' rx='3' fill='$l'/>"},
    {"vacuum",
     "<ellipse cx='254' cy='214' rx='66' ry='38' fill='$b'/><circle cx='282' cy='228' "
     "r='24' fill='$d'/><circle cx='282' cy='228' r='10' fill='$l'/><path d='M196 "
     "202c-40-16-26-80-64-102' fill='none' stroke='$d' stroke-width='9'/><path d='M136 "
     "100l-44 140' stroke='$l' stroke-width='9'/><path d='M70 240h50l4 12H66z' fill='$d'/>"},
    {"kettle",
     "<path d='M136 112h112l14 128a10 10 0 0 1-10 12H132a10 10 0 0 1-10-12z' "
     "fill='$b'/><path d='M248 124c60-6 66 96 6 100' fill='none' stroke='$d' "
     "stroke-width='13'/><path d='M136 132l-44-12 34 56z' fill='$d'/><path d='M140 112a52 "
     "30 0 0 1 104 0z' fill='$l'/><circle cx='192' cy='82' r='9' fill='$d'/>"},
    {"climate",
     "<rect x='66' y='84' width='268' height='84' rx='14' fill='$b'/><path d='M84 142h232' "
     "stroke='$d' stroke-width='6'/><circle cx='306' cy='112' r='6' fill='#6fc08a'/><path "
     "d='M126 188c-10 18 10 24 0 44M200 188c-10 18 10 24 0 44M274 188c-10 18 10 24 0 44' "
     "fill='none' stroke='#86b4d0' stroke-width='7'/>"},
    {"sofa",
     "<rect x='78' y='110' width='244' height='92' rx='22' fill='$b'/><path d='M200 114v76' "
     "stroke='$d' stroke-width='4'/><rect x='92' y='176' width='216' height='46' rx='12' "
     "fill='$l'/><path d='M200 178v42' stroke='$d' stroke-width='3'/><rect x='54' y='146' "
     "width='48' height='86' rx='20' fill='$d'/><rect x='298' y='146' width='48' "
     "height='86' rx='20' fill='$d'/><path d='M82 232v20M318 232v20' stroke='#4b3a2c' "
     "stroke-width='10'/>"},
    {"bed",
     "<rect x='62' y='92' width='24' height='160' rx='8' fill='$d'/><rect x='314' y='150' "
     "width='22' height='102' rx='8' fill='$d'/><rect x='74' y='172' width='252' "
     "height='54' rx='10' fill='$l'/><path d='M150 172h176v40H150z' fill='$b'/><rect x='88' "
     "y='148' width='60' height='32' rx='14' fill='#fff'/>"},
    {"wardrobe",
     "<rect x='100' y='40' width='200' height='206' rx='5' fill='$b'/><path d='M200 42v202' "
     "stroke='$d' stroke-width='4'/><rect x='112' y='54' width='76' height='150' rx='3' "
     "fill='$l' opacity='.6'/><rect x='212' y='54' width='76' height='150' rx='3' fill='$l' "
     "opacity='.6'/><path d='M190 120v26M210 120v26' stroke='$d' stroke-width='6'/><path "
     "d='M116 246v8M284 246v8' stroke='#3b2f26' stroke-width='12'/>"},
    {"table",
     "<path d='M60 138h280l-14 24H74z' fill='$b'/><path d='M74 162h252v12H74z' "
     "fill='$d'/><path d='M96 174l-12 80M304 174l12 80M140 174l-4 56M260 174l4 56' "
     "stroke='$d' stroke-width='11'/><path d='M72 140h256' stroke='$l' stroke-width='4'/>"},
    {"chair",
     "<rect x='146' y='48' width='108' height='98' rx='22' fill='$b'/><path d='M200 146v34' "
     "stroke='$d' stroke-width='12'/><rect x='132' y='158' width='136' height='30' rx='14' "
     "fill='$l'/><path d='M200 188v34M200 222l-52 26M200 222l52 26M200 222v30' "
     "stroke='#3a3d44' stroke-width='9' fill='none'/>"},
    {"lamp",
     "<path d='M150 58h100l34 84H116z' fill='$b'/><path d='M150 58h44l-20 84h-58z' "
     "fill='$l' opacity='.6'/><path d='M200 142v92' stroke='$d' stroke-width='9'/><ellipse "
     "cx='200' cy='244' rx='52' ry='10' fill='$d'/><path d='M116 146h168l30 60H86z' "
     "fill='#fff3c4' opacity='.35'/>"},
    {"dishes",
     "<ellipse cx='170' cy='214' rx='104' ry='38' fill='$l'/><ellipse cx='170' cy='208' "
     "rx='74' ry='24' fill='#fff' opacity='.7'/><path d='M220 118h92v74a34 34 0 0 1-34 "
     "34h-24a34 34 0 0 1-34-34z' fill='$b'/><path d='M312 134c36 0 36 56 0 56' fill='none' "
     "stroke='$d' stroke-width='10'/><path d='M244 100c-8-14 8-18 0-34M276 100c-8-14 8-18 "
     "0-34' fill='none' stroke='#fff' stroke-width='5' opacity='.8'/>"},
    {"rug",
     "<path d='M70 226l60-110h200l-26 110z' fill='$b'/><path d='M96 212l44-82h166l-20 82z' "
     "fill='none' stroke='$l' stroke-width='6'/><path d='M150 196l18-40h80l-10 40z' "
     "fill='$d' opacity='.7'/><path d='M70 226l-10 14M110 226l-8 14M150 226l-8 14M190 "
     "226l-8 14M230 226l-8 14M270 226l-8 14M304 226l-8 14' stroke='$d' stroke-width='4'/>"},
    {"plant",
     "<path d='M152 178h96l-14 74h-68z' fill='$d'/><rect x='144' y='168' width='112' "
     "height='20' rx='6' fill='#a7684a'/><path d='M200 170c-6-60-64-60-82-96 46-4 86 26 82 "
     "96zM200 170c4-70 50-92 92-92-12 42-46 66-92 92zM200 168c-18-60 2-96 10-126 24 34 18 "
     "84-10 126z' fill='#4f8a5b'/><path d='M200 170c-10-40-40-60-66-84M202 168c16-40 40-60 "
     "70-78' fill='none' stroke='#2f6140' stroke-width='3'/>"},
    {"mower",
     "<path d='M92 206l20-40h110l40 40v24H92z' fill='$b'/><rect x='124' y='138' width='70' "
     "height='30' rx='6' fill='$d'/><path d='M250 196L330 66' stroke='#3a3f47' "
     "stroke-width='8'/><path d='M310 60h36' stroke='#3a3f47' stroke-width='10'/><circle "
     "cx='118' cy='232' r='22' fill='#2d3138'/><circle cx='240' cy='232' r='22' "
     "fill='#2d3138'/><circle cx='118' cy='232' r='9' fill='$l'/><circle cx='240' cy='232' "
     "r='9' fill='$l'/>"},
    {"food",
     "<path d='M110 150h180l-20 92a12 12 0 0 1-12 10H142a12 12 0 0 1-12-10z' "
     "fill='#c69a66'/><path d='M120 180h160M126 210h148' stroke='#a67b4a' "
     "stroke-width='5'/><circle cx='150' cy='130' r='30' fill='#d8564b'/><circle cx='206' "
     "cy='118' r='34' fill='#e6a23c'/><circle cx='256' cy='132' r='28' "
     "fill='#7aa95c'/><path d='M206 86c2-14 12-18 20-18M150 102c0-12 6-16 12-18' "
     "stroke='#4d6b3c' stroke-width='5' fill='none'/>"},
    {"bicycle",
     "<g fill='none' stroke='#30343c' stroke-width='8'><circle cx='116' cy='190' "
     "r='60'/><circle cx='288' cy='190' r='60'/></g><g fill='none' stroke='#9aa1ab' "
     "stroke-width='2'><path d='M116 130v120M56 190h120M288 130v120M228 190h120M74 148l84 "
     "84M158 148l-84 84M246 148l84 84M330 148l-84 84'/></g><g fill='none' stroke='$b' "
     "stroke-width='10'><path d='M116 190l42-84h92l-52 84zM158 106l40 84M288 "
     "190l-44-108'/></g><path d='M142 92h40' stroke='#2b2f37' stroke-width='11'/><path "
     "d='M232 78h34' stroke='#2b2f37' stroke-width='8'/><circle cx='198' cy='190' r='13' "
     "fill='$d'/>"},
    {"scooter",
     "<circle cx='104' cy='228' r='24' fill='#2c3037'/><circle cx='292' cy='228' r='24' "
     "fill='#2c3037'/><circle cx='104' cy='228' r='9' fill='$l'/><circle cx='292' cy='228' "
     "r='9' fill='$l'/><path d='M104 214h150l34-8' stroke='$b' stroke-width='15' "
     "fill='none'/><path d='M286 220L252 74' stroke='$d' stroke-width='10'/><path d='M226 "
     "72h54' stroke='#2c3037' stroke-width='10'/>"},
    {"car",
     "<path d='M40 206c0-30 10-40 44-46l36-6 42-44c8-8 18-12 30-12h62c14 0 26 6 34 18l22 34 "
     "34 8c16 4 20 14 20 30v26a8 8 0 0 1-8 8H50a10 10 0 0 1-10-10z' fill='$b'/><path "
     "d='M138 154l34-36c4-4 8-6 14-6h18v42zM214 112h36c10 0 16 4 22 12l20 30h-78z' "
     "fill='#bcd6e6'/><path d='M40 190h324' stroke='$d' stroke-width='4'/><circle cx='112' "
     "cy='218' r='34' fill='#2a2d34'/><circle cx='112' cy='218' r='16' "
     "fill='#b9c0c8'/><circle cx='296' cy='218' r='34' fill='#2a2d34'/><circle cx='296' "
     "cy='218' r='16' fill='#b9c0c8'/><rect x='346' y='168' width='18' height='12' rx='4' "
     "fill='#ffe9a8'/><rect x='40' y='172' width='12' height='14' rx='4' fill='#e0544c'/>"},
    {"suv",
     "<path d='M42 210v-50c0-10 4-16 14-18l40-4 34-48c6-8 12-10 22-10h108c12 0 20 4 26 "
     "14l30 44 36 8c10 2 14 10 14 20v48a8 8 0 0 1-8 8H50a8 8 0 0 1-8-12z' fill='$b'/><path "
     "d='M116 138l26-36c3-4 6-6 12-6h46v42zM212 96h44c8 0 12 2 16 10l20 32h-80z' "
     "fill='#bcd6e6'/><path d='M42 186h324' stroke='$d' stroke-width='5'/><circle cx='112' "
     "cy='216' r='38' fill='#2a2d34'/><circle cx='112' cy='216' r='18' "
     "fill='#b9c0c8'/><circle cx='292' cy='216' r='38' fill='#2a2d34'/><circle cx='292' "
     "cy='216' r='18' fill='#b9c0c8'/><rect x='348' y='152' width='18' height='14' rx='4' "
     "fill='#ffe9a8'/>"},
    {"truck",
     "<rect x='40' y='84' width='196' height='128' rx='5' fill='$l'/><path d='M40 110h196' "
     "stroke='$b' stroke-width='6' opacity='.6'/><path d='M244 120h62c8 0 12 2 16 10l24 "
     "44c2 4 4 8 4 14v32H244z' fill='$b'/><path d='M262 134h40l22 40h-62z' "
     "fill='#bcd6e6'/><path d='M36 212h316v12H36z' fill='#3a3f48'/><circle cx='98' cy='224' "
     "r='28' fill='#2a2d34'/><circle cx='98' cy='224' r='12' fill='#b9c0c8'/><circle "
     "cx='164' cy='224' r='28' fill='#2a2d34'/><circle cx='164' cy='224' r='12' "
     "fill='#b9c0c8'/><circle cx='304' cy='224' r='28' fill='#2a2d34'/><circle cx='304' "
     "cy='224' r='12' fill='#b9c0c8'/>"},
    {"motorcycle",
     "<circle cx='104' cy='204' r='48' fill='none' stroke='#2a2d34' "
     "stroke-width='15'/><circle cx='300' cy='204' r='48' fill='none' stroke='#2a2d34' "
     "stroke-width='15'/><path d='M120 150c30-22 70-10 92-2 22-30 58-30 66 2l-30 44h-88z' "
     "fill='$b'/><path d='M96 142h86l-10 18H110z' fill='#2b2f36'/><path d='M300 204L256 "
     "98M238 92h38' stroke='$d' stroke-width='9' fill='none'/><rect x='160' y='186' "
     "width='70' height='40' rx='9' fill='#6d747e'/><path d='M104 204l80-8M230 214h-96' "
     "stroke='#8c939d' stroke-width='8'/>"},
    {"boat",
     "<path d='M48 178h304l-38 56a20 20 0 0 1-16 8H108a20 20 0 0 1-17-9z' fill='$b'/><path "
     "d='M48 178h304l-10 15H58z' fill='$l'/><path d='M150 178l22-44h84l30 44z' "
     "fill='$d'/><path d='M178 170l14-26h50l16 26z' fill='#bcd6e6'/><path d='M20 244c30-16 "
     "50 16 80 0s50 16 80 0 50 16 80 0 50 16 80 0 30 8 40 4v40H20z' fill='#7fb2cc' "
     "opacity='.8'/>"},
    {"tyre",
     "<circle cx='200' cy='152' r='104' fill='#2c2f35'/><circle cx='200' cy='152' r='96' "
     "fill='none' stroke='#454952' stroke-width='6' stroke-dasharray='14 10'/><circle "
     "cx='200' cy='152' r='66' fill='#c5cbd2'/><g stroke='#8a929c' stroke-width='14'><path "
     "d='M200 152v-60M200 152l57-18M200 152l35 49M200 152l-35 49M200 "
     "152l-57-18'/></g><circle cx='200' cy='152' r='17' fill='#646b75'/>"},
    {"gear",
     "<path d='M186 50h28l6 26 20 8 23-14 20 20-14 23 8 20 26 6v28l-26 6-8 20 14 23-20 "
     "20-23-14-20 8-6 26h-28l-6-26-20-8-23 14-20-20 14-23-8-20-26-6v-28l26-6 8-20-14-23 "
     "20-20 23 14 20-8z' fill='$b'/><circle cx='200' cy='153' r='43' fill='$d'/><circle "
     "cx='200' cy='153' r='27' fill='#f2f0ea'/>"},
    {"flat",
     "<rect x='112' y='32' width='176' height='222' fill='$b'/><rect x='112' y='32' "
     "width='176' height='12' fill='$d'/><g fill='#cfe3ef'><rect x='130' y='60' width='30' "
     "height='28'/><rect x='185' y='60' width='30' height='28'/><rect x='240' y='60' "
     "width='30' height='28'/><rect x='130' y='106' width='30' height='28'/><rect x='185' "
     "y='106' width='30' height='28'/><rect x='240' y='106' width='30' height='28'/><rect "
     "x='130' y='152' width='30' height='28'/><rect x='185' y='152' width='30' "
     "height='28'/><rect x='240' y='152' width='30' height='28'/></g><g "
     "fill='#f6d98a'><rect x='185' y='106' width='30' height='28'/><rect x='130' y='152' "
     "width='30' height='28'/></g><rect x='184' y='206' width='32' height='48' fill='$d'/>"},
    {"room",
     "<path d='M70 50h260v164H70z' fill='#f5efe4'/><path d='M70 214h260l30 40H40z' "
     "fill='$d' opacity='.5'/><rect x='160' y='74' width='90' height='78' "
     "fill='#bfdcec'/><path d='M205 74v78M160 112h90' stroke='#fff' stroke-width='5'/><rect "
     "x='92' y='166' width='112' height='52' rx='10' fill='$b'/><rect x='268' y='120' "
     "width='40' height='96' fill='$l'/><path d='M150 70c8 40-4 70-8 92M260 70c-8 40 4 70 8 "
     "92' stroke='$b' stroke-width='8' fill='none' opacity='.7'/>"},
    {"house",
     "<path d='M92 136h216v118H92z' fill='$l'/><path d='M68 140L200 50l132 90z' "
     "fill='$b'/><rect x='254' y='66' width='24' height='46' fill='$d'/><rect x='116' "
     "y='164' width='50' height='42' fill='#bfdcec'/><rect x='234' y='164' width='50' "
     "height='42' fill='#f6d98a'/><rect x='180' y='180' width='40' height='74' "
     "fill='$d'/><path d='M40 254c20-40 30-40 44 0z' fill='#5b8f5f'/>"},
    {"land",
     "<path d='M20 200c60-40 120-10 180-30s120-10 180 10v84H20z' fill='#86b072'/><path "
     "d='M20 226c80-24 140 10 360-14v52H20z' fill='#6c9a5c'/><path d='M110 200v-40M280 "
     "190v-46' stroke='#6a4d36' stroke-width='9'/><circle cx='110' cy='132' r='38' "
     "fill='#4f8a5b'/><circle cx='280' cy='112' r='44' fill='#5b965f'/><circle cx='330' "
     "cy='62' r='22' fill='#f6d98a'/><path d='M150 240v-24M190 238v-24M230 238v-24M140 "
     "224h100' stroke='$d' stroke-width='6'/>"},
    {"garage",
     "<path d='M80 110l120-54 120 54v144H80z' fill='$b'/><rect x='116' y='142' width='168' "
     "height='112' fill='#d9dde2'/><path d='M116 166h168M116 190h168M116 214h168M116 "
     "238h168' stroke='#a9b0b8' stroke-width='4'/><path d='M66 116L200 54l134 62' "
     "stroke='$d' stroke-width='11' fill='none'/>"},
    {"shopfront",
     "<rect x='76' y='110' width='248' height='144' fill='$l'/><path d='M66 76h268l18 "
     "50H48z' fill='$b'/><path d='M120 76l-10 50M174 76l-4 50M226 76l4 50M280 76l10 50' "
     "stroke='#fff' stroke-width='12' opacity='.6'/><rect x='96' y='150' width='110' "
     "height='74' fill='#bfdcec'/><rect x='232' y='150' width='64' height='104' fill='$d'/>"},
    {"briefcase",
     "<path d='M156 102v-20a14 14 0 0 1 14-14h60a14 14 0 0 1 14 14v20' fill='none' "
     "stroke='$d' stroke-width='13'/><rect x='76' y='100' width='248' height='150' rx='16' "
     "fill='$b'/><path d='M76 150c70 34 178 34 248 0' fill='none' stroke='$d' "
     "stroke-width='7'/><rect x='182' y='158' width='36' height='30' rx='6' fill='$l'/>"},
    {"person",
     "<circle cx='200' cy='104' r='46' fill='#e8bf9a'/><path d='M152 100c0-70 96-70 96 "
     "0-20-20-70-26-96 0z' fill='#5b4334'/><path d='M104 252c0-70 50-92 96-92s96 22 96 92z' "
     "fill='$b'/><path d='M176 162l24 30 24-30' fill='#fff'/>"},
    {"wrench",
     "<path d='M106 92a54 54 0 0 1 70-40l-28 32 8 26 26 8 30-28a54 54 0 0 1-66 72l-2-1-74 "
     "76a22 22 0 0 1-32-32l76-74z' fill='$b' transform='translate(44 6)'/><path d='M296 "
     "66l24 24-22 14-72 72-22-22 72-72z' fill='$d'/><path d='M214 166l24 24-56 58a16 16 0 0 "
     "1-24-24z' fill='#e0a03c'/>"},
    {"brush",
     "<rect x='112' y='66' width='150' height='56' rx='10' fill='$b'/><path d='M262 "
     "92h44v52H204v34' fill='none' stroke='$d' stroke-width='10'/><rect x='190' y='176' "
     "width='28' height='76' rx='10' fill='#a67b4a'/><path d='M112 112c20 22 30 60 12 "
     "70s-10-46-12-70z' fill='$l'/>"},
    {"scissors",
     "<path d='M128 60l104 128M272 60L168 188' stroke='#9aa2ad' stroke-width='15'/><circle "
     "cx='146' cy='214' r='32' fill='none' stroke='$b' stroke-width='15'/><circle cx='254' "
     "cy='214' r='32' fill='none' stroke='$b' stroke-width='15'/><circle cx='200' cy='148' "
     "r='8' fill='$d'/>"},
    {"book",
     "<path d='M200 86c-40-24-90-24-124-12v160c34-12 84-12 124 12z' fill='$b'/><path "
     "d='M200 86c40-24 90-24 124-12v160c-34-12-84-12-124 12z' fill='$d'/><path d='M200 "
     "96c-36-20-76-20-110-10v136c34-10 74-10 110 10zM200 96c36-20 76-20 "
     "110-10v136c-34-10-74-10-110 10z' fill='#fbf7ec'/><path d='M108 112c26-6 50-4 74 6M108 "
     "138c26-6 50-4 74 6M108 164c26-6 50-4 74 6M218 118c24-10 48-12 74-6M218 144c24-10 "
     "48-12 74-6M218 170c24-10 48-12 74-6' stroke='#b9b2a2' stroke-width='4' fill='none'/>"},
    {"guitar",
     "<path d='M176 160c-12-30-66-22-70 22-4 40 34 76 82 66 40-8 52-38 40-60-8-16 "
     "0-22-8-34s-32-18-44 6z' fill='$b'/><circle cx='170' cy='196' r='22' fill='$d'/><path "
     "d='M184 182L308 56' stroke='#6b4a30' stroke-width='14'/><path d='M296 48l26 26' "
     "stroke='#3b2a1c' stroke-width='17'/><path d='M140 226l164-166' stroke='#f0e6d0' "
     "stroke-width='2'/>"},
    {"piano",
     "<path d='M70 100h260v120H70z' fill='$b'/><path d='M62 84h276v24H62z' fill='$d'/><rect "
     "x='84' y='160' width='232' height='50' fill='#fff'/><path d='M113 160v50M142 "
     "160v50M171 160v50M200 160v50M229 160v50M258 160v50M287 160v50' stroke='#999' "
     "stroke-width='2'/><g fill='#23262c'><rect x='106' y='160' width='14' "
     "height='30'/><rect x='135' y='160' width='14' height='30'/><rect x='193' y='160' "
     "width='14' height='30'/><rect x='222' y='160' width='14' height='30'/><rect x='251' "
     "y='160' width='14' height='30'/></g><path d='M86 220v34M314 220v34' stroke='$d' "
     "stroke-width='12'/>"},
    {"ski",
     "<path d='M150 250L176 60c2-16 22-14 22 0l-22 190z' fill='$b'/><path d='M204 "
     "250l26-190c2-16 22-14 22 0l-22 190z' fill='$d'/><path d='M112 60l16 190M290 60l-10 "
     "190' stroke='#7e8791' stroke-width='6'/><circle cx='128' cy='238' r='13' fill='none' "
     "stroke='#444' stroke-width='5'/><circle cx='281' cy='238' r='13' fill='none' "
     "stroke='#444' stroke-width='5'/>"},
    {"dumbbell",
     "<path d='M120 160h160' stroke='#888f99' stroke-width='17'/><rect x='84' y='104' "
     "width='34' height='112' rx='10' fill='$b'/><rect x='60' y='124' width='24' "
     "height='72' rx='9' fill='$d'/><rect x='282' y='104' width='34' height='112' rx='10' "
     "fill='$b'/><rect x='316' y='124' width='24' height='72' rx='9' fill='$d'/>"},
    {"rod",
     "<path d='M70 250L318 56' stroke='$b' stroke-width='9'/><path d='M318 56c26 60 14 120 "
     "8 164' fill='none' stroke='#666' stroke-width='2'/><circle cx='128' cy='214' r='24' "
     "fill='$d'/><circle cx='128' cy='214' r='10' fill='$l'/><path d='M326 220c14 4 14 24-4 "
     "22' fill='none' stroke='#555' stroke-width='5'/><path d='M214 206c30-20 60-4 70 "
     "8l20-14v34l-20-14c-14 16-46 22-70-14z' fill='#8fb7c8'/>"},
    {"tent",
     "<path d='M200 66L70 250h260z' fill='$b'/><path d='M200 66L70 250h70z' "
     "fill='$l'/><path d='M200 120l-44 130h88z' fill='$d'/><path d='M200 66v-20M70 250l-24 "
     "6M330 250l24 6' stroke='#555' stroke-width='5'/>"},
    {"dice",
     "<rect x='76' y='90' width='180' height='130' rx='8' fill='$b'/><path d='M92 "
     "106h148v98H92z' fill='$l'/><path d='M110 180l30-40 24 26 30-48 34 62z' fill='$d'/><g "
     "transform='rotate(14 286 210)'><rect x='256' y='182' width='62' height='62' rx='12' "
     "fill='#fff'/><g fill='#333'><circle cx='272' cy='198' r='6'/><circle cx='302' "
     "cy='198' r='6'/><circle cx='287' cy='213' r='6'/><circle cx='272' cy='228' "
     "r='6'/><circle cx='302' cy='228' r='6'/></g></g>"},
    {"vinyl",
     "<rect x='70' y='60' width='190' height='190' rx='4' fill='$b'/><path d='M90 "
     "80h150v60H90z' fill='$l' opacity='.5'/><circle cx='252' cy='156' r='90' "
     "fill='#22252b'/><circle cx='252' cy='156' r='68' fill='none' stroke='#3a3e46' "
     "stroke-width='3'/><circle cx='252' cy='156' r='50' fill='none' stroke='#3a3e46' "
     "stroke-width='3'/><circle cx='252' cy='156' r='28' fill='$b'/><circle cx='252' "
     "cy='156' r='5' fill='#fff'/>"},
    {"coin",
     "<circle cx='160' cy='170' r='78' fill='#c9a24c'/><circle cx='160' cy='170' r='62' "
     "fill='none' stroke='#9c7a30' stroke-width='5'/><path d='M132 196l28-60 28 "
     "60-46-36h38z' fill='#9c7a30'/><circle cx='268' cy='194' r='56' "
     "fill='#b9c0c8'/><circle cx='268' cy='194' r='44' fill='none' stroke='#8a929c' "
     "stroke-width='4'/><path d='M254 174h28v40h-28z' fill='#8a929c'/>"},
    {"ticket",
     "<g transform='rotate(-8 200 150)'><path d='M70 96h260v30a24 24 0 0 0 0 "
     "48v30H70v-30a24 24 0 0 0 0-48z' fill='$b'/><path d='M246 100v100' stroke='#fff' "
     "stroke-width='5' stroke-dasharray='9 9'/><path d='M100 130h110M100 152h84M100 "
     "174h100' stroke='$l' stroke-width='9'/></g>"},
    {"dress",
     "<path d='M168 48c6 30 58 30 64 0l22 8-18 60 54 130c-60 18-120 18-180 0l54-130-18-60z' "
     "fill='$b'/><path d='M164 116h72l4 14h-80z' fill='$d'/><path d='M176 132l-24 116M200 "
     "132v124M224 132l24 116' stroke='$d' stroke-width='3' fill='none' opacity='.7'/>"},
    {"jacket",
     "<path d='M164 50h72l56 26 26 130-40 8-14-70v106H136V144l-14 70-40-8 26-130z' "
     "fill='$b'/><path d='M164 50l36 40 36-40 14 8-30 60-20-22-20 22-30-60z' "
     "fill='$d'/><path d='M200 96v152' stroke='$d' stroke-width='5'/><path d='M150 "
     "190h30M220 190h30' stroke='$l' stroke-width='6'/>"},
    {"shirt",
     "<path d='M160 60c14 20 66 20 80 0l70 34-24 62-32-14v104H146V142l-32 14-24-62z' "
     "fill='$b'/><path d='M160 60c14 20 66 20 80 0l8 4c-14 32-82 32-96 0z' fill='$d'/>"},
    {"trousers",
     "<path d='M146 48h108l24 204h-56l-22-136-22 136h-56z' fill='$b'/><path d='M146 "
     "48h108l2 22H144z' fill='$d'/><path d='M200 70v46M152 72l14 26M248 72l-14 26' "
     "stroke='$l' stroke-width='4' fill='none'/>"},
    {"shoe",
     "<path d='M70 226v-74c20 10 44 8 60-14l26-20c20 40 60 66 118 74 36 4 56 12 56 34z' "
     "fill='$b'/><path d='M64 226h270v16a10 10 0 0 1-10 10H74a10 10 0 0 1-10-10z' "
     "fill='#f3f1ec'/><path d='M154 158l26-18M172 174l26-18M192 186l24-18' stroke='#fff' "
     "stroke-width='6'/><path d='M70 186c30 6 56 6 76-6' stroke='$d' stroke-width='6' "
     "fill='none'/>"},
    {"boot",
     "<path d='M130 56h92v96c20 30 90 30 104 74v16H130z' fill='$b'/><path d='M124 "
     "236h206v16H124z' fill='$d'/><path d='M126 56h100v22H126z' fill='$l'/><path d='M222 "
     "110h-30M222 134h-30' stroke='$d' stroke-width='6'/>"},
    {"bag",
     "<path d='M150 120c0-80 100-80 100 0' fill='none' stroke='$d' stroke-width='11'/><path "
     "d='M96 112h208l20 128a12 12 0 0 1-12 14H88a12 12 0 0 1-12-14z' fill='$b'/><path "
     "d='M90 152h220' stroke='$d' stroke-width='5'/><rect x='180' y='140' width='40' "
     "height='28' rx='7' fill='#d9b765'/>"},
    {"watch",
     "<path d='M166 34h68l8 64h-84zM158 206h84l-8 60h-68z' fill='$d'/><circle cx='200' "
     "cy='152' r='68' fill='$b'/><circle cx='200' cy='152' r='54' fill='#fbfaf6'/><path "
     "d='M200 152v-36M200 152l24 16' stroke='#333' stroke-width='6'/><circle cx='200' "
     "cy='152' r='5' fill='#333'/><g fill='#888'><circle cx='200' cy='106' r='3'/><circle "
     "cx='246' cy='152' r='3'/><circle cx='200' cy='198' r='3'/><circle cx='154' cy='152' "
     "r='3'/></g>"},
    {"ring",
     "<circle cx='200' cy='186' r='62' fill='none' stroke='#d3ac55' "
     "stroke-width='15'/><path d='M160 84h80l24 28-64 52-64-52z' fill='#bfe3ee'/><path "
     "d='M160 84l16 28-40 0M240 84l-16 28h40M176 112l24 52 24-52zM160 84h80l-16 28h-48z' "
     "fill='#fff' opacity='.5'/>"},
    {"pram",
     "<path d='M104 150a96 92 0 0 1 96-92v92z' fill='$d'/><path d='M104 150h190c0 50-36 "
     "66-84 66s-106-10-106-66z' fill='$b'/><path d='M294 150l34-62h22' fill='none' "
     "stroke='#50565f' stroke-width='9'/><path d='M150 212l-20 26M258 212l20 26' "
     "stroke='#50565f' stroke-width='7'/><circle cx='136' cy='236' r='18' "
     "fill='#2c3037'/><circle cx='268' cy='236' r='18' fill='#2c3037'/>"},
    {"car-seat",
     "<path d='M150 56c0-26 100-26 100 0l10 110H140z' fill='$b'/><path d='M122 160h156l12 "
     "60a14 14 0 0 1-14 16H124a14 14 0 0 1-14-16z' fill='$d'/><path d='M176 66l12 116M224 "
     "66l-12 116' stroke='$l' stroke-width='9'/><rect x='184' y='176' width='32' "
     "height='24' rx='6' fill='#d8564b'/>"},
    {"toy",
     "<rect x='84' y='170' width='82' height='82' rx='7' fill='#d8564b'/><rect x='172' "
     "y='170' width='82' height='82' rx='7' fill='#e6b23c'/><rect x='128' y='84' width='82' "
     "height='82' rx='7' fill='$b'/><circle cx='296' cy='212' r='40' fill='#5b9a6a'/><path "
     "d='M260 196c24 16 48 16 72 0' stroke='#fff' stroke-width='7' fill='none'/><path "
     "d='M169 104l10 20h-20z' fill='#fff'/>"},
    {"bear",
     "<circle cx='146' cy='74' r='28' fill='$b'/><circle cx='254' cy='74' r='28' "
     "fill='$b'/><circle cx='200' cy='108' r='62' fill='$b'/><ellipse cx='200' cy='206' "
     "rx='74' ry='50' fill='$b'/><ellipse cx='200' cy='206' rx='40' ry='30' "
     "fill='$l'/><ellipse cx='200' cy='126' rx='26' ry='20' fill='$l'/><circle cx='178' "
     "cy='98' r='6' fill='#222'/><circle cx='222' cy='98' r='6' fill='#222'/><ellipse "
     "cx='200' cy='118' rx='8' ry='6' fill='#222'/>"},
    {"dog",
     "<path d='M146 96c-30-14-52 14-46 60 20 6 34-6 38-30zM254 96c30-14 52 14 46 60-20 "
     "6-34-6-38-30z' fill='$d'/><path d='M138 120c0-72 124-72 124 0 0 50-20 96-62 "
     "96s-62-46-62-96z' fill='$b'/><ellipse cx='200' cy='166' rx='36' ry='34' "
     "fill='$l'/><circle cx='174' cy='124' r='8' fill='#222'/><circle cx='226' cy='124' "
     "r='8' fill='#222'/><ellipse cx='200' cy='150' rx='14' ry='10' fill='#222'/><path "
     "d='M200 160v16M200 176c-8 12-22 8-24 0M200 176c8 12 22 8 24 0' stroke='#222' "
     "stroke-width='4' fill='none'/><path d='M150 208c-30 10-40 30-40 "
     "46h180c0-16-10-36-40-46-30 16-70 16-100 0z' fill='$b'/>"},
    {"cat",
     "<path d='M128 132l-6-84 56 38h44l56-38-6 84c10 60-30 92-72 92s-82-32-72-92z' "
     "fill='$b'/><path d='M134 72l4 34 22-18zM266 72l-4 34-22-18z' fill='#e9b3b0'/><ellipse "
     "cx='168' cy='138' rx='13' ry='15' fill='#cfe39a'/><ellipse cx='232' cy='138' rx='13' "
     "ry='15' fill='#cfe39a'/><ellipse cx='168' cy='138' rx='4' ry='13' "
     "fill='#222'/><ellipse cx='232' cy='138' rx='4' ry='13' fill='#222'/><path d='M192 "
     "164h16l-8 10zM200 174c-4 14-20 12-22 4M200 174c4 14 20 12 22 4' stroke='#333' "
     "stroke-width='3' fill='#d98b88'/><path d='M150 168l-52-8M150 176l-52 8M250 "
     "168l52-8M250 176l52 8' stroke='$d' stroke-width='3'/>"},
    {"bird",
     "<path d='M110 170c0-70 60-100 104-92 30 6 40 30 40 46l42 8-40 18c0 60-40 90-90 90l-60 "
     "20 20-36c-10-12-16-30-16-54z' fill='$b'/><path d='M130 170c20-40 70-30 84 4-20 40-60 "
     "44-84-4z' fill='$d'/><circle cx='222' cy='112' r='8' fill='#222'/><path d='M254 "
     "124l42 8-40 18z' fill='#e6a23c'/><path d='M176 240v16M196 238v18' stroke='#e6a23c' "
     "stroke-width='6'/>"},
    {"fish",
     "<rect x='66' y='66' width='268' height='182' rx='10' fill='#a9d4e6' "
     "opacity='.75'/><path d='M66 96h268' stroke='#fff' stroke-width='5' "
     "opacity='.8'/><path d='M128 160c30-40 90-40 116 0l36-28v60l-36-28c-26 38-86 "
     "38-116-4z' fill='$b'/><circle cx='154' cy='152' r='6' fill='#222'/><path d='M66 "
     "226h268v14a8 8 0 0 1-8 8H74a8 8 0 0 1-8-8z' fill='#c9b48a'/><path d='M300 226c-8-30 "
     "10-40 0-70M92 226c8-20-8-30 2-52' stroke='#4f8a5b' stroke-width='7' fill='none'/>"},
    {"hamster",
     "<ellipse cx='200' cy='180' rx='92' ry='70' fill='$b'/><circle cx='136' cy='116' "
     "r='22' fill='$d'/><circle cx='224' cy='104' r='22' fill='$d'/><ellipse cx='160' "
     "cy='200' rx='40' ry='36' fill='$l'/><circle cx='140' cy='158' r='8' "
     "fill='#222'/><circle cx='196' cy='152' r='8' fill='#222'/><ellipse cx='160' cy='182' "
     "rx='9' ry='6' fill='#d98b88'/>"},
    {"cow",
     "<path d='M96 120h170l40-28 30 30-10 40-36 "
     "10v70h-26v-50H146v50h-26v-60c-24-10-30-40-24-62z' fill='$l'/><path d='M130 120c30 0 "
     "40 30 20 44s-50-10-20-44zM220 130c24-8 36 20 20 30s-30-10-20-30z' fill='$d'/><path "
     "d='M306 92l-6-20M330 104l16-14' stroke='#8a7a62' stroke-width='7'/><circle cx='314' "
     "cy='120' r='5' fill='#222'/><path d='M96 124l-20 50' stroke='$d' stroke-width='6'/>"},
    {"drill",
     "<path d='M116 92h150a12 12 0 0 1 12 12v44H116a14 14 0 0 1-14-14v-28a14 14 0 0 1 "
     "14-14z' fill='$b'/><rect x='278' y='106' width='34' height='28' fill='#5b626c'/><path "
     "d='M312 120h46' stroke='#9aa2ad' stroke-width='8'/><path d='M132 148h56l-16 84h-56z' "
     "fill='$d'/><rect x='104' y='228' width='78' height='24' rx='5' fill='#2d3138'/><path "
     "d='M192 152c8 10 4 20-8 22' stroke='#2d3138' stroke-width='7' fill='none'/>"},
    {"hammer",
     "<rect x='186' y='110' width='28' height='142' rx='8' fill='#b98550'/><path d='M120 "
     "66h120c30 0 44 16 50 40h-50v12H120z' fill='$b'/><rect x='112' y='62' width='36' "
     "height='60' rx='6' fill='$d'/>"},
    {"bricks",
     "<g fill='$b' stroke='#efe7dc' stroke-width='4'><rect x='70' y='200' width='86' "
     "height='50'/><rect x='158' y='200' width='86' height='50'/><rect x='246' y='200' "
     "width='86' height='50'/><rect x='112' y='148' width='86' height='50'/><rect x='200' "
     "y='148' width='86' height='50'/><rect x='156' y='96' width='86' height='50'/></g>"},
    {"planks",
     "<path d='M60 214h250l30-20H92z' fill='$l'/><path d='M60 214h250v24H60z' "
     "fill='$b'/><path d='M310 214l30-20v24l-30 20z' fill='$d'/><path d='M80 "
     "176h250l26-18H108z' fill='$l'/><path d='M80 176h250v24H80z' fill='$b'/><path d='M330 "
     "176l26-18v24l-26 18z' fill='$d'/><path d='M70 138h250l26-18H98z' fill='$l'/><path "
     "d='M70 138h250v24H70z' fill='$b'/><path d='M320 138l26-18v24l-26 18z' fill='$d'/>"},
    {"door",
     "<rect x='136' y='32' width='128' height='222' fill='$d'/><rect x='146' y='42' "
     "width='108' height='212' fill='$b'/><rect x='160' y='60' width='80' height='68' "
     "rx='3' fill='$l' opacity='.6'/><rect x='160' y='150' width='80' height='84' rx='3' "
     "fill='$l' opacity='.6'/><circle cx='240' cy='148' r='7' fill='#d9b765'/>"},
    {"window",
     "<rect x='100' y='56' width='200' height='178' fill='#fff'/><rect x='112' y='68' "
     "width='82' height='154' fill='#bfdcec'/><rect x='206' y='68' width='82' height='154' "
     "fill='#bfdcec'/><path d='M112 150l82-70v-12h-82zM206 150l82-70v-12h-82z' fill='#fff' "
     "opacity='.5'/><path d='M88 234h224v18H88z' fill='$l'/>"},
    {"tap",
     "<path d='M70 190h260v14a50 50 0 0 1-50 50H120a50 50 0 0 1-50-50z' "
     "fill='#f6f6f4'/><path d='M60 176h280v18H60z' fill='$l'/><path d='M200 176V92c0-34 "
     "60-34 60 6v16' fill='none' stroke='#8d96a1' stroke-width='17'/><path d='M176 110h48' "
     "stroke='#8d96a1' stroke-width='11'/><path d='M260 128v34' stroke='#8cc4e0' "
     "stroke-width='7'/>"},
    {"machine",
     "<rect x='64' y='190' width='272' height='62' rx='5' fill='$d'/><rect x='84' y='92' "
     "width='78' height='98' rx='6' fill='$b'/><rect x='98' y='108' width='50' height='28' "
     "fill='#a8d5b4'/><circle cx='106' cy='156' r='6' fill='#d8564b'/><circle cx='128' "
     "cy='156' r='6' fill='#7fbf86'/><path d='M162 130h110v60' fill='none' stroke='$l' "
     "stroke-width='21'/><path d='M272 178v22' stroke='#50565f' stroke-width='9'/>"},
    {"ball",
     "<circle cx='200' cy='156' r='94' fill='$l'/><path d='M200 112l40 28-16 "
     "46h-48l-16-46z' fill='$d'/><path d='M200 112V64M240 140l46-16M224 186l28 40M176 "
     "186l-28 40M160 140l-46-16' stroke='$d' stroke-width='7'/>"},
    {"yarn",
     "<circle cx='186' cy='168' r='80' fill='$b'/><path d='M118 150c50-40 100-20 144 10M112 "
     "184c50-30 110-10 146 20M150 98c-10 50 20 110 60 146M210 92c-30 50-20 100 20 140' "
     "fill='none' stroke='$l' stroke-width='5'/><path d='M262 190c40 10 40 50 90 44' "
     "fill='none' stroke='$b' stroke-width='6'/><path d='M250 60L160 230' stroke='#b98550' "
     "stroke-width='7'/>"},
    {"broom",
     "<path d='M230 50l-34 124' stroke='#b98550' stroke-width='11'/><path d='M164 168l64 "
     "18-10 68c-40 6-70-4-90-22z' fill='$b'/><path d='M164 168l64 18-4 18-68-18z' "
     "fill='$d'/><circle cx='290' cy='214' r='20' fill='#fff' opacity='.7'/><circle "
     "cx='318' cy='186' r='12' fill='#fff' opacity='.7'/>"},
    {"scales",
     "<path d='M200 66v160M120 92h160' stroke='$d' stroke-width='9'/><path d='M120 92l-40 "
     "76h80zM280 92l-40 76h80z' fill='none' stroke='$b' stroke-width='5'/><path d='M74 "
     "168h92a46 34 0 0 1-92 0zM234 168h92a46 34 0 0 1-92 0z' fill='$b'/><path d='M150 "
     "226h100l14 26H136z' fill='$d'/>"},
};
/* clang-format on */
const size_t drawing_shape_count = ARRAY_COUNT(drawing_shapes);
