import { type Agent, createAgent } from '@switchboard/agent'

/** English, German, French, Spanish, Italian. */
const LANGUAGES = ['en', 'de', 'fr', 'es', 'it'] as const
type Language = (typeof LANGUAGES)[number]

const DICTIONARY = `
good morning | guten Morgen | bonjour | buenos días | buongiorno
good evening | guten Abend | bonsoir | buenas tardes | buonasera
good night | gute Nacht | bonne nuit | buenas noches | buonanotte
thank you | danke | merci | gracias | grazie
my friend | mein Freund | mon ami | mi amigo | amico mio
how are you | wie geht es dir | comment vas-tu | cómo estás | come stai
hello | hallo | bonjour | hola | ciao
goodbye | auf Wiedersehen | au revoir | adiós | arrivederci
please | bitte | s'il vous plaît | por favor | per favore
yes | ja | oui | sí | sì
no | nein | non | no | no
and | und | et | y | e
or | oder | ou | o | o
where is | wo ist | où est | dónde está | dov'è
I would like | ich hätte gern | je voudrais | quisiera | vorrei
the bill | die Rechnung | l'addition | la cuenta | il conto
the station | der Bahnhof | la gare | la estación | la stazione
the hotel | das Hotel | l'hôtel | el hotel | l'albergo
the contract | der Vertrag | le contrat | el contrato | il contratto
a coffee | einen Kaffee | un café | un café | un caffè
a ticket | eine Fahrkarte | un billet | un billete | un biglietto
water | Wasser | eau | agua | acqua
bread | Brot | pain | pan | pane
today | heute | aujourd'hui | hoy | oggi
tomorrow | morgen | demain | mañana | domani
`

const PHRASES = DICTIONARY.trim()
  .split('\n')
  .map((line) => {
    const [en = '', de = '', fr = '', es = '', it = ''] = line.split(' | ')
    return { en, de, fr, es, it }
  })

/** The longest phrase of the dictionary, in words. */
const LONGEST = 4

/** Translates phrase by phrase, longest first; words that the dictionary does not have stay as they are. */
function translate(text: string, from: Language, to: Language): { text: string; unknown: string[] } {
  const words = text.match(/[\p{L}\p{M}'’-]+|[^\p{L}\p{M}\s]+/gu) ?? []
  const translated: string[] = []
  const unknown: string[] = []
  for (let at = 0; at < words.length; ) {
    const lengths = Array.from({ length: LONGEST }, (_, i) => LONGEST - i)
    const found = lengths.flatMap((length) => {
      const wanted = words
        .slice(at, at + length)
        .join(' ')
        .toLowerCase()
      const phrase = PHRASES.find((each) => each[from].toLowerCase() === wanted)
      return phrase ? [{ length, text: phrase[to] }] : []
    })[0]
    const word = words[at] ?? ''
    if (!found && /\p{L}/u.test(word)) unknown.push(word)
    translated.push(found?.text ?? word)
    at += found?.length ?? 1
  }
  return { text: translated.join(' ').replaceAll(/ ([.,!?])/g, '$1'), unknown }
}

/** A capability with a JSON Schema: the handler knows that `to` is one of the five languages. */
export const createTranslator = (): Agent =>
  createAgent({
    id: 'demo-translator',
    name: 'Phrase translator',
    version: '1.0.0',
    description:
      'Translates everyday words and phrases between English, German, French, Spanish and Italian, from a small dictionary.',
    tags: ['demo', 'translation', 'language'],
    examples: ['translate good morning into Spanish', 'how do you say thank you in Italian?'],
    capabilities: [
      {
        name: 'translate',
        description: 'Translates a short text from one language into another.',
        safe: true,
        input: {
          type: 'object',
          properties: {
            text: { type: 'string', description: 'such as "good morning, my friend"' },
            to: { enum: LANGUAGES, description: 'the language to translate into' },
            from: { enum: LANGUAGES, description: 'the language of the text; default: en' },
          },
          required: ['text', 'to'],
        },
        output: {
          type: 'object',
          properties: {
            text: { type: 'string' },
            unknown: { type: 'array', items: { type: 'string' }, description: 'words that are not in the dictionary' },
          },
          required: ['text', 'unknown'],
        },
        handler: ({ text, to, from = 'en' }) => translate(text, from, to),
      },
    ],
  })
