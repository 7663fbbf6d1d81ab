/** Letters of other scripts that are drawn like Latin ones, and the Latin letters that they are taken for. */
const CYRILLIC = 'аaвbсcԁdеeһhіiјjкkӏlмmнhоoрpԛqѕsтtуyхxԝwгrпnАAВBСCЕEНHІIЈJКKМMОOРPЅSТTХXУYҮYԜW'
const GREEK = 'αaεeιiκkνvοoρpτtυuχxγyωwηnΑAΒBΕEΖZΗHΙIΚKΜMΝNΟOΡPΤTΥYΧX'
const ARMENIAN = 'օoսuոnհhցgԱUՕOՏSԼL'
const OTHER_LATIN = 'ɑaɡgıiɩiʟlʀrꜱsᴀaᴄcᴅdᴇeɢgʜhɪiᴊjᴋkʟlᴍmɴnᴏoᴘpᴛtᴜuᴠvᴡwʏyᴢzƖl'

const pairs = (text: string): [string, string][] => {
  const letters = [...text]
  return letters.flatMap((letter, i): [string, string][] => (i % 2 === 0 ? [[letter, letters[i + 1] ?? letter]] : []))
}

const LATIN_OF: ReadonlyMap<string, string> = new Map(
  [CYRILLIC, GREEK, ARMENIAN, OTHER_LATIN].flatMap((text) => pairs(text)),
)

/** The Latin letter that a letter of another script is taken for. */
export const latinLookalike = (letter: string): string | undefined => LATIN_OF.get(letter)
