// Determines the scripts in which a text is written, by Script_Extensions of the Unicode Character Database
// (UTS 39, 5.1). A character that several scripts share belongs to each of them; digits, signs and most marks
// belong to all scripts. The time is linear in the text.

/** The values of the script property, with `_` for the space. */
const scriptNames =
  'Adlam Ahom Anatolian_Hieroglyphs Arabic Armenian Avestan Balinese Bamum Bassa_Vah Batak Bengali Bhaiksuki Bopomofo Brahmi Braille Buginese Buhid Canadian_Aboriginal Carian Caucasian_Albanian Chakma Cham Cherokee Chorasmian Coptic Cuneiform Cypriot Cypro_Minoan Cyrillic Deseret Devanagari Dives_Akuru Dogra Duployan Egyptian_Hieroglyphs Elbasan Elymaic Ethiopic Garay Georgian Glagolitic Gothic Grantha Greek Gujarati Gunjala_Gondi Gurmukhi Gurung_Khema Han Hangul Hanifi_Rohingya Hanunoo Hatran Hebrew Hiragana Imperial_Aramaic Inscriptional_Pahlavi Inscriptional_Parthian Javanese Kaithi Kannada Katakana Kawi Kayah_Li Kharoshthi Khitan_Small_Script Khmer Khojki Khudawadi Kirat_Rai Lao Latin Lepcha Limbu Linear_A Linear_B Lisu Lycian Lydian Mahajani Makasar Malayalam Mandaic Manichaean Marchen Masaram_Gondi Medefaidrin Meetei_Mayek Mende_Kikakui Meroitic_Cursive Meroitic_Hieroglyphs Miao Modi Mongolian Mro Multani Myanmar Nabataean Nag_Mundari Nandinagari New_Tai_Lue Newa Nko Nushu Nyiakeng_Puachue_Hmong Ogham Ol_Chiki Ol_Onal Old_Hungarian Old_Italic Old_North_Arabian Old_Permic Old_Persian Old_Sogdian Old_South_Arabian Old_Turkic Old_Uyghur Oriya Osage Osmanya Pahawh_Hmong Palmyrene Pau_Cin_Hau Phags_Pa Phoenician Psalter_Pahlavi Rejang Runic Samaritan Saurashtra Sharada Shavian Siddham SignWriting Sinhala Sogdian Sora_Sompeng Soyombo Sundanese Sunuwar Syloti_Nagri Syriac Tagalog Tagbanwa Tai_Le Tai_Tham Tai_Viet Takri Tamil Tangsa Tangut Telugu Thaana Thai Tibetan Tifinagh Tirhuta Todhri Toto Tulu_Tigalari Ugaritic Vai Vithkuqi Wancho Warang_Citi Yezidi Yi Zanabazar_Square'.split(
    ' ',
  );

/**
 * Groups of scripts that are written together and count as one (UTS 39, table 1): Chinese with bopomofo,
 * Japanese, Korean.
 */
const together = [
  ['Han', 'Bopomofo'],
  ['Han', 'Hiragana', 'Katakana'],
  ['Han', 'Hangul'],
] as const;

interface Script {
  readonly name: string;
  readonly holds: RegExp;
  /** Matches texts whose characters all belong to this script. */
  readonly isAll: RegExp;
}

/** Made for the first text that is not plain ASCII; null until then. */
let scripts: readonly Script[] | null = null;
let wholeTogether: readonly RegExp[] = [];
let latinTogether: readonly RegExp[] = [];

function madeScripts(): readonly Script[] {
  if (scripts !== null) return scripts;
  wholeTogether = together.map((names) => only(names));
  latinTogether = together.map((names) => only(['Latin', ...names]));
  scripts = scriptNames.map((name) => ({
    name,
    holds: new RegExp(`\\p{scx=${name}}`, 'u'),
    isAll: only([name]),
  }));
  return scripts;
}

function only(names: readonly string[]): RegExp {
  return new RegExp(`^[${names.map((name) => `\\p{scx=${name}}`).join('')}]*$`, 'u');
}

const ascii = /^[\0-\x7f]*$/;
const shared = /[\p{scx=Common}\p{scx=Inherited}]+/gu;

/**
 * Whether one script, or one group of scripts that are written together, has all characters of the text: the
 * levels "Single Script" and "ASCII-Only" of UTS 39. A character of no script that the runtime knows makes
 * the answer false.
 */
export function isSingleScript(text: string): boolean {
  if (ascii.test(text)) return true;
  const letters = text.replace(shared, '');
  if (letters === '') return true;
  return (
    scriptsWith(letters.codePointAt(0)!).some(({ isAll }) => isAll.test(letters)) ||
    wholeTogether.some((whole) => whole.test(letters))
  );
}

const wordRun = /[\p{L}\p{M}\p{N}_]+/gu;

/**
 * Whether one word of the text (a run of letters, marks, digits and `_`) mixes scripts. Latin beside Chinese,
 * Japanese or Korean within a word is usual and does not count (UTS 39, "Highly Restrictive").
 */
export function isMixedScript(text: string): boolean {
  return mixedWords(text).length > 0;
}

/** A text of a single script, and a text that mixes two. */
export const scriptExamples = ['a', 'a\u0430'] as const;

/** Returns the words of a text that mix scripts. */
export function mixedWords(text: string): readonly string[] {
  return ascii.test(text) ? [] : (text.match(wordRun) ?? []).filter(isMixedWord);
}

function isMixedWord(word: string): boolean {
  if (isSingleScript(word)) return false;
  const letters = word.replace(shared, '');
  return !latinTogether.some((whole) => whole.test(letters));
}

/**
 * Returns the scripts to which a character belongs, as people write them (`Old Italic`); empty for a
 * character that belongs to all scripts.
 */
export function scriptsOf(character: string): readonly string[] {
  return scriptsWith(character.codePointAt(0) ?? 0).map(({ name }) => name.replaceAll('_', ' '));
}

const countedLengthMax = 2_000;

/** Counts the letters of a text by script, in its first 2,000 units; letters that several scripts use are left out. */
export function countScripts(text: string): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const letter of text.slice(0, countedLengthMax)) {
    const [script, ...others] = scriptsOf(letter);
    if (script !== undefined && others.length === 0) counts.set(script, (counts.get(script) ?? 0) + 1);
  }
  return counts;
}

/**
 * The letters that may deceive a reader, each once: those in words that mix scripts which do not belong to the
 * script of most letters of the text.
 */
export function foreignLetters(text: string): readonly string[] {
  const words = mixedWords(text);
  if (words.length === 0) return [];
  const [[usual] = ['']] = [...countScripts(text)].toSorted(([, a], [, b]) => b - a);
  const foreign = [...words.join('')].filter((letter) => {
    const scripts = scriptsOf(letter);
    return scripts.length > 0 && !scripts.includes(usual);
  });
  return [...new Set(foreign)];
}

/** A code point as `U+0430`. */
export function codePointName(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
}

const foundScripts = new Map<number, readonly Script[]>();
const foundScriptsMax = 4_096;

function scriptsWith(codePoint: number): readonly Script[] {
  const cached = foundScripts.get(codePoint);
  if (cached !== undefined) return cached;
  const character = String.fromCodePoint(codePoint);
  const scripts = madeScripts().filter(({ holds }) => holds.test(character));
  // Bounded, because agents choose the characters.
  if (foundScripts.size < foundScriptsMax) foundScripts.set(codePoint, scripts);
  return scripts;
}
