import type { PlaceNames } from './spellings.ts';

/** Names of the country, with which any address may end. */
export const COUNTRY_NAMES: readonly string[] = [
  '{UAE,AE,ARE,Emirates,The Emirates}',
  '{,The }United Arab Emirates',
  '{الإمارات,امارات,دولة الإمارات}',
  '{,دولة }الإمارات العربية المتحدة',
];

/** Names of places in more than one emirate, however few people live in one of them: alone they identify none. */
export const SHARED_PLACES: readonly PlaceNames[] = [
  ['D{i,e}b{,b}a{,h}', 'دب{ا,ه}'],
  ['Bani{, }yas', 'بني ياس'],
  ['Masafi', 'مسافي'],
  ['Industrial Area', '{المنطقة الصناعية,منطقة صناعية}'],
  ['{,Al }Corniche', 'الكورنيش'],
  ['{,Al }University City', 'المدينة الجامعية'],
  ['{,The }Sustainable City', 'المدينة المستدامة'],
  ['{M{o,u}ham{,m}{a,e}d Bin Zayed,MBZ} City', 'مدينة محمد بن زايد'],
  ['Al Abraq', 'الأبرق'],
  ['{,Al }Ali{,y}a{,h}', 'العالية'],
  ['Al Amera{,h}', 'العامرة'],
  ['{Al Bahi{,y}a{,h},Al Bahyah}', 'الباهية'],
  ['Al Bu{tee,tai}n', 'البطين'],
  ['Al Bustan', 'البستان'],
  ['Al Faq{,a}a', 'الفقع'],
  ['Al Falah', 'الفلاح'],
  ['{,Al }Ghubaiba{,h}', 'الغبيبة'],
  ['{,Al }Ghub{,b}', 'الغب'],
  ['Ghadeer Al Ta{y,i}r', 'غدير الطير'],
  ['{,Al }Hamra', 'الحمر{اء,ة}'],
  ['{,Al }Hamriya{,h}', 'الحمرية'],
  ['Al Ha{y,i}l', 'الحيل'],
  ['Al Hisn', 'الحصن'],
  ['Al Hudaiba{,h}', 'الحضيبة'],
  ['{,Al }Jubail', 'الجبيل'],
  ['{,Al }Karama{,h}', 'الكرامة'],
  ['Al Kh{a,i}b{ai,ee}si', 'الخبيصي'],
  ['Al Kheeran', 'الخيران'],
  ['Al Khalidi{,y}a{,h}', 'الخالدية'],
  ['Al Khor', 'الخور'],
  ['{,Al }La{,y}yan', 'ليان'],
  ['Al Mahat{,t}a{,h}', 'المحطة'],
  ['{Al Maidan,Al Meydan}', 'الميدان'],
  ['Al Mam{ou,u}ra{,h}', 'المعمورة'],
  ['{,Al }Mamz{a,e}r', 'الممزر'],
  ['{,Al }Manama', 'المنامة'],
  ['{,Al }Mansoura', 'المنصورة'],
  ['{,Al }Maqta{,a}', 'المقطع'],
  ['Al Marina', 'المارينا'],
  ['Al Mina', 'الميناء'],
  ['Al Muntaza{,h}', 'المنتزه'],
  ['Al Musal{,l}a', 'المصلى'],
  ['{,Al }Mushrif', '{,ال}مشرف'],
  ['M{u,e}sh{ai,a}ir{e,i}f', 'مشيرف'],
  ['Muwa{i,y}lih', 'مويلح'],
  ['M{u,}z{ai,ee}ra{,h}', 'مزيرعة'],
  ['{,Al }Nahda{,h}', 'النهدة'],
  ['Al Nakh{ee,i}l', 'النخيل'],
  ['{,Al }Nas{i,s,se}r{e,i,i}y{,y}a{,h}', 'الناصرية'],
  ['Nazwa{,h}', 'نزو{ى,ه}'],
  ['Al Qarayen', 'القرائن'],
  ['Al Qurm', 'القرم'],
  ['{,Al }Q{u,uo,o}oz', 'القوز'],
  ['Al Ra{,a}s', 'الراس'],
  ['Al Ra{ff,faa}a{,h}', 'الرفاعة'],
  ['Al R{i,e}f{,f}a{,a}{,h}', 'الرفاع'],
  ['{,Al }Ramla{,h}', 'الرملة'],
  ['{,Al }Rashidi{,y}a{,h}', 'الراشدية'],
  ['Al Ra{w,u}da{,h}', 'الروضة'],
  ['Al Reem', 'الريم'],
  ['{Remah,Rumah}', 'رماح'],
  ['Al Riq{,q}a{,h}', 'الرقة'],
  ['{,Al }Rolla', 'الرولة'],
  ['Al Rumaila{,h}', 'الرميلة'],
  ['Al Sabkha', '{السبخة,الصبخة}'],
  ['Al Seef', 'السيف'],
  ['Al Soor', '{السور,الصور}'],
  ['Al Sweihat', 'السويحات'],
  ['Al Tarfa', 'الطرفا'],
  ['Al Ta{y,yy,i}', 'الطي'],
  ['Al Waha{,h}', 'الواحة'],
  ['Al Wahda{,h}', 'الوحدة'],
  ['{,Al }Za{,a}b', 'الزعاب'],
  ['{,Al }Zahi{,y}a{,h}', 'الزاهية'],
  ['Al Zahra', 'الزهراء'],
  ['{,Al }Zubara{,h}', 'الزبارة'],
];

/**
 * Names of places that people and firms have too. They count only as a whole part: in "Flat 5, Al Khan, Sharjah", not in "Flat 5 Al Khan".
 */
export const NAMES_OF_PEOPLE: readonly string[] = [
  'Naif',
  'Al {Khan,Nahyan,Manhal,Masoudi,Zubair,Danah,Raha,Reef,Salama,Wasl,Safa,Manara,Falaj,Fayha,Yasmeen,Ghadeer,Barari,Haditha,Talla}{,h}',
  'Al {Sad,Saad,Samha,Khatim,Shahba,Yarmouk,Yarmook,Jeer,Muntazi}{,h}',
  '{Zakher,Zakhir,Nahil,Mazyad,Mezyad,Hameem,Barakah,Majan,Tawam,Samnan,Sharqan,Dasman,Khuzam,Emirates City,Shaam,Mudon,Villanova,Liwan,Arjan}',
];

/** Places abroad. A string that names one is not read as a place in the Emirates. */
export const FOREIGN_PLACES: readonly string[] = [
  '{,Sultanate of }Oman',
  '{,سلطنة }عمان',
  '{Muscat,Salalah,Sohar,Buraimi,Al Buraimi}',
  // ISO 3166-1 codes, as used in address objects.
  '{OM,SA,QA,KW,BH,IN,PK,EG,JO,LB,GB,US}',
  '{مسقط,البريمي}',
  '{,Kingdom of }Saudi Arabia',
  '{Saudi,KSA,Riyadh,Al Riyadh,Jeddah,Dammam,Khobar,Al Khobar,Makkah,Mecca,Medina}',
  '{السعودية,المملكة العربية السعودية,الرياض,جدة}',
  '{,State of }Qatar',
  '{Doha,Kuwait,Kuwait City,Bahrain,Kingdom of Bahrain,Iraq,Baghdad,Iran,Tehran,Yemen}',
  '{قطر,الدوحة,الكويت,البحرين,العراق,اليمن}',
  '{Jordan,Amman,Aman,Egypt,Cairo,Alexandria,Lebanon,Beirut,Syria,Damascus,Turkey,Istanbul,Morocco}',
  '{الأردن,مصر,القاهرة,لبنان,بيروت,سوريا,دمشق}',
  '{India,Mumbai,Delhi,New Delhi,Bangalore,Kerala,Pakistan,Karachi,Lahore,Bangladesh,Dhaka,Sri Lanka,Colombo,Nepal}',
  '{Philippines,Manila,China,Hong Kong,Singapore,Malaysia,Indonesia}',
  // Names for several emirates.
  '{Northern Emirates,Other Emirates,Others}',
  '{UK,United Kingdom,England,London,USA,United States,United States of America,Canada,Germany,France}',
];

/** Places and first names that are a small typo away from an emirate but mean something else. */
export const TYPO_EXCEPTIONS: readonly string[] = [
  '{Duba,Dumai,Ajmer,Umm Al Qurain,Ras Al Khair}',
  '{رأس الخير,أم القرين,أم العيون,البارقة,المشارقة}',
  '{Ayman,Aiman,Ajmal,Ajlan,Ajwan,Arman,Adman,Azman,عثمان,عجلان,Shariah}',
];
