import { stemmer as arabic } from '@orama/stemmers/arabic'
import { stemmer as dutch } from '@orama/stemmers/dutch'
import { stemmer as french } from '@orama/stemmers/french'
import { stemmer as german } from '@orama/stemmers/german'
import { stemmer as hindi } from '@orama/stemmers/indian'
import { stemmer as italian } from '@orama/stemmers/italian'
import { stemmer as portuguese } from '@orama/stemmers/portuguese'
import { stemmer as russian } from '@orama/stemmers/russian'
import { stemmer as spanish } from '@orama/stemmers/spanish'
import { stemmer as turkish } from '@orama/stemmers/turkish'
import { stemmer as ukrainian } from '@orama/stemmers/ukrainian'
import { BEYOND_ASCII } from '../words/tokenize.js'

/** How the words of a language are recognised in a text. All words are in lower case. */
export interface LanguageRules {
  /** The stem of a word. Stems are compared with stems only, so they need not be words. Default: none. */
  readonly stem?: (word: string) => string
  /** Spelling variants become the same: default, without accents. */
  readonly fold?: (word: string) => string
  /** Dictionary forms that a word may be a form of, where stems do not tell. */
  readonly forms?: (word: string) => readonly string[]
  /** What may stand between the parts of a compound that is written as one word. Default: no compounds. */
  readonly links?: readonly string[]
  /** Prefixes of verbs that stand alone at the end of a clause: "fasse den Text zusammen". */
  readonly particles?: readonly string[]
  /** Written without spaces: words are found by segmentation. */
  readonly isUnspaced?: boolean
  /** Endings are joined to words, one after the other: a word with at least this many letters is known by how it begins. */
  readonly minPrefixLetters?: number
}

/** Removes accents. */
export const withoutAccents = (word: string): string =>
  BEYOND_ASCII.test(word) ? word.normalize('NFD').replace(/\p{M}/gu, '').normalize('NFC') : word

/** Replaces an ending by each of others, or by none. */
const replacing =
  (...rules: readonly (readonly [RegExp, ...string[]])[]) =>
  (word: string): string[] =>
    rules.flatMap(([ending, ...others]) =>
      ending.test(word) ? others.map((other) => word.replace(ending, other)) : [],
    )

/** Removes the longest of these endings that leaves enough of the word. */
const withoutEnding = (list: string, minLetters: number): ((word: string) => string) => {
  const endings = list.split(/\s+/).sort((a, b) => b.length - a.length)
  return (word) => {
    const ending = endings.find((each) => word.endsWith(each) && word.length - each.length >= minLetters)
    return ending === undefined ? word : word.slice(0, -ending.length)
  }
}

/** Umlauts may be written with an e; both count as the plain vowel. */
const foldGerman = (word: string): string =>
  withoutAccents(word)
    .replaceAll('ß', 'ss')
    .replace(/([aou])e/g, '$1')

const PARTICLES =
  'ab|an|auf|aus|bei|durch|ein|fest|fort|her|heraus|herunter|hin|hinzu|hoch|los|mit|nach|raus|runter|um|vor|vorher|weg|weiter|zu|zurück|zusammen'

/** Regular verbs: bucht, buchte, gebucht; zusammengefasst, zusammenzufassen. */
const germanForms = replacing(
  [/^ge(.{2,}?)e?t(?:e[nmrs]?)?$/, '$1en'],
  [/^ge(.{3,}en)$/, '$1'],
  [new RegExp(`^(${PARTICLES})ge(.{2,}?)e?t(?:e[nmrs]?)?$`), '$1$2en'],
  [new RegExp(`^(${PARTICLES})(?:ge|zu)(.{2,}e?n)$`), '$1$2'],
  [/(.{3})e?t(?:e|en|est|et)?$/, '$1en'],
  [/(.{3})e?st$/, '$1en'],
  [/(.{2}[^aeiou])e$/, '$1en'],
)

const dutchForms = replacing(
  [/^ge(.{2,}?)[dt]e?$/, '$1en', '$1'],
  [/^(aan|af|bij|door|in|mee|na|om|op|over|samen|toe|uit|voor|weg)(?:ge|te)(.{2,})$/, '$1$2'],
  [/(.{3})t$/, '$1en', '$1'],
  [/(.{3})de[n]?$/, '$1en'],
)

/** Clitics: aiutarmi, tradurlo. Plurals that change the spelling of a consonant. */
const italianForms = replacing(
  [/r(?:mi|ti|ci|vi|si|ne|lo|la|li|le|gli)(?:lo|la|li|le|ne)?$/, 're', 'rre'],
  [/ndo(?:mi|ti|ci|vi|si|ne|lo|la|li|le|gli)$/, 'ndo'],
  [/([cg])hi$/, '$1o'],
  [/([cg])he$/, '$1a'],
  [/i$/, 'o', 'e', 'io'],
  [/e$/, 'a'],
  [/a$/, 'o'],
)

/** Plurals that change more than an ending. */
const portugueseForms = replacing(
  [/(?:õ|ã|o|a)es$/, 'ão'],
  [/ns$/, 'm'],
  [/([aeéoó])is$/, '$1l'],
  [/eis$/, 'il'],
  [/is$/, 'il'],
  [/([rz])es$/, '$1'],
  [/s$/, ''],
  [/as?$/, 'o'],
)

/** Plurals and feminine forms: stems would confuse "contratos" with "contratar". Clitics: traducirlo. */
const spanishForms = replacing(
  [/s$/, ''],
  [/es$/, ''],
  [/ces$/, 'z'],
  [/ciones$/, 'ción'],
  [/as?$/, 'o'],
  [/(?:me|te|se|nos|los?|las?|les?)$/, ''],
)

const frenchForms = replacing([/[sx]$/, ''], [/aux$/, 'al', 'ail', 'au'], [/es?$/, ''])

/** Cases of nouns: stems would confuse "договоры" with "договориться". */
const russianForms = replacing(
  [/(?:ы|и|а|у|е|ом|ов|ам|ами|ах)$/, '', 'а', 'о'],
  [/(?:и|я|ю|е|ем|ей|ям|ями|ях)$/, 'ь', 'я', 'й', 'е'],
)

const POLISH_ENDINGS = `ami ach owi ów om ego emu ymi imi ych ich ym im ej iej ą ę y i a e o u ie owa owe owy owych owej
  ować ową owania owanie uje ują ujesz uję ać eć ić yć am em asz esz isz ysz aj ij ał ała ał ało ali iły ane ana any anie ania
  aniu eniu enie enia one ony ona ia ię iu ią iem om kom ek ka ki kę ką ce ku kiem kach kami`

/** Prefixes and pronouns that are written together with a word. */
const arabicForms = replacing(
  [/^(?:وال|بال|كال|فال|ال)(.{2,})$/, '$1'],
  [/^لل(.{2,})$/, '$1'],
  [/^[وبلفك](.{3,})$/, '$1'],
  [/^[وف]?[بل]?(?:ال)?(.{3,}?)(?:ات|ين|ون|ان|ية|ها|هم|نا|ي|ك|ه)$/, '$1', '$1ه', '$1ة'],
)

const foldArabic = (word: string): string =>
  word
    .replace(/[\u064b-\u0652\u0640]/g, '')
    .replace(/[أإآ]/g, 'ا')
    .replaceAll('ى', 'ي')
    .replaceAll('ة', 'ه')

/** Vowel signs matter in Hindi; the dot below a consonant is often left out. */
const foldHindi = (word: string): string => word.normalize('NFD').replaceAll('\u093c', '').replaceAll('ँ', 'ं')

/** Consonants at the end of a word change before a vowel: kitap, kitabı. */
const withHardConsonant = replacing([/ğ$/, 'k'], [/c$/, 'ç'], [/d$/, 't'], [/b$/, 'p'])
const turkishForms = (word: string): string[] => withHardConsonant(turkish(word))

/** Particles, the copula, and the endings of requests. */
const KOREAN_ENDINGS = `은 는 이 가 을 를 에 의 로 으로 와 과 도 만 에서 에게 한테 까지 부터 보다 처럼 이나 나 하고 랑 이랑 들 들을 들이 들의
  하다 하기 하는 해줘 해주세요 해 할 한 합니다 하고 하여 하려면 하고싶어 하게 하면 해서 했 했다 되는 된 적인 적으로 용 다 기 고 어줘 아줘 어주세요 아주세요
  ㄹ 을까 는데 어요 아요 세요 줘 주세요 어 아 기를 기에 는지 인가요 인지 이다 입니다 이에요`

/** A verb or adjective written with kanji changes only its kana at the end. */
const japaneseStem = (word: string): string => word.replace(/(?<=\p{Script=Han})\p{Script=Hiragana}{1,4}$/u, '')

const foldUkrainian = (word: string): string => word.replace(/['’ʼ]/g, '').replaceAll('ґ', 'г')

/** Rules of the languages that have a lexicon, by primary BCP 47 subtag. */
export const LANGUAGES: Readonly<Record<string, LanguageRules>> = {
  ar: { stem: arabic, fold: foldArabic, forms: arabicForms },
  de: {
    stem: german,
    fold: foldGerman,
    forms: germanForms,
    links: ['', 's', 'es', 'n', 'en', 'er', 'e', 'ns'],
    particles: PARTICLES.split('|'),
  },
  es: { stem: spanish, forms: spanishForms },
  fr: { stem: french, forms: frenchForms },
  hi: { stem: hindi, fold: foldHindi },
  it: { stem: italian, forms: italianForms },
  ja: { stem: japaneseStem, isUnspaced: true, fold: (word) => word },
  ko: { stem: withoutEnding(KOREAN_ENDINGS, 1), fold: (word) => word, minPrefixLetters: 2 },
  nl: {
    stem: dutch,
    forms: dutchForms,
    links: ['', 's', 'e', 'en', 'n'],
    particles: ['aan', 'af', 'bij', 'in', 'mee', 'na', 'om', 'op', 'over', 'samen', 'toe', 'uit', 'voor', 'weg'],
  },
  pl: { stem: withoutEnding(POLISH_ENDINGS, 3), fold: (word) => withoutAccents(word).replaceAll('ł', 'l') },
  pt: { stem: portuguese, forms: portugueseForms },
  ru: { stem: russian, forms: russianForms, fold: (word) => word.replaceAll('ё', 'е') },
  tr: {
    stem: turkish,
    forms: turkishForms,
    fold: (word) => withoutAccents(word).replaceAll('ı', 'i'),
    minPrefixLetters: 4,
  },
  uk: { stem: ukrainian, fold: foldUkrainian },
  zh: { isUnspaced: true, fold: (word) => word },
}
