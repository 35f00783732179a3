/** Names of the country, with which any address may end. */
export const COUNTRY_NAMES: readonly string[] = [
  '{UAE,AE,ARE,Emirates,The Emirates}',
  '{,The }United Arab Emirates',
  '{الإمارات,امارات,دولة الإمارات}',
  '{,دولة }الإمارات العربية المتحدة',
];

/** Names of places in more than one emirate, which alone identify none. */
export const SHARED_PLACES: readonly string[] = [
  'D{i,e}b{,b}a{,h}',
  '{دبا,دبه}',
  'Masafi',
  'مسافي',
  '{,Al }Nahda{,h}',
  'النهدة',
  '{,Al }Rashidi{,y}a{,h}',
  'الراشدية',
  '{,Al }Hamriya{,h}',
  'الحمرية',
  '{,Al }Hamra',
  'الحمراء',
  '{,Al }Karama{,h}',
  'الكرامة',
  '{,Al }Corniche',
  'الكورنيش',
  'Industrial Area',
  'المنطقة الصناعية',
  '{M{o,u}ham{,m}{e,a}d Bin Zayed,MBZ} City',
  'مدينة محمد بن زايد',
  '{,Al }Rolla',
  '{,Al }Manama',
  'المنامة',
  'Bani{, }yas',
  'بني ياس',
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
