/** Matches any of the patterns; all of them take linear time. */
const anyOf = (flags: string, ...patterns: readonly RegExp[]): RegExp =>
  new RegExp(patterns.map(({ source }) => source).join('|'), flags)

/** Role markers of chat templates, which do not occur in prose. */
const CHAT_MARKUP = anyOf(
  'i',
  /<\|[a-z_]{2,30}\|>|\[\/?inst\]|<<\/?sys>>/,
  /<\/?(?:system|system_prompt|assistant|start_of_turn|end_of_turn)>|(?:^|[\s.])\[system\]/,
  /(?:^|\n|[.!?] )[ \t]*(?:#{2,4} ?)?(?:system|assistant|human)(?: message| prompt)? ?:/,
  /#{2,4} ?(?:instruction|response)s?:/,
  /\b(?:begin|end) (?:of )?(?:system|admin) (?:message|prompt|instruction)|\b(?:system|administrator) override\b/,
)
/** Known from tool poisoning attacks. Case-sensitive: in lower case it occurs in documentation. */
const IMPORTANT_TAG = /<\/?IMPORTANT>/
/** A cheap check that rules out most texts. */
const MAY_BE_MARKUP = /[<[#:]|\b(?:begin|end|override)\b/i

/** Phrases that assign a new persona to a model; their words are too common for the rules in instruction-rules.ts. */
const NEW_PERSONA = anyOf(
  '',
  /\byou are (?:no longer|now (?:an?|the|in|acting|no longer|free))\b|\bfrom now on,? (?:you|act|behave|respond)\b/,
  /\bdu bist (?:jetzt|nun) (?:ein|der|die|kein)|\bab (?:jetzt|sofort) bist du\b/,
  /\b(?:tu es|vous etes) (?:maintenant|desormais) une?\b|\ba partir de maintenant,? (?:tu|vous)\b/,
  /\b(?:ahora eres|eres ahora)\b|\ba partir de ahora,? (?:eres|actua|responde)\b/,
  /你现在(?:是|不)|你現在是|从现在(?:起|开始)[,，]? ?你/,
)

/** Files that no honest agent requests. */
const SECRET_FILE = /~\/\.ssh\/|\bid_rsa\b|\/etc\/(?:passwd|shadow)\b|\.aws\/credentials/
const REQUEST_VERB = /\b(?:read|include|send|attach|upload|pass|forward|append)\b/

/** Forms of address to a model; an honest description addresses everybody. */
const GREETING = /\b(?:note|attention|instructions? to|dear|hinweis|achtung|remarque|nota|aviso|instructions a)/
const CONNECTIVE =
  /(?: to| for| an| fur| a| pour| para)?(?: the| all| any| die| jede| le| les| la| el| los)?[ ,:]+(?:l['’])?/
const MODEL =
  /(?:ais?|llms?|language models?|orchestrator|ki|ias?|sprachmodelle?|(?:intelligence|inteligencia) artificiel?le?)\b/
const ADDRESS_TO_MODEL = new RegExp(`${GREETING.source}${CONNECTIVE.source}${MODEL.source}`)

/** Whether a text contains the markup of a chat template. */
export const hasChatMarkup = (text: string): boolean =>
  MAY_BE_MARKUP.test(text) && (IMPORTANT_TAG.test(text) || CHAT_MARKUP.test(text))

/** Whether a plain text assigns a new persona to a model. */
export const assignsPersona = (plain: string): boolean => NEW_PERSONA.test(plain)

/** Whether a plain text requests a file with secrets. */
export const requestsSecretFile = (plain: string): boolean => SECRET_FILE.test(plain) && REQUEST_VERB.test(plain)

/** Whether a plain text addresses models directly. */
export const addressesModels = (plain: string): boolean => ADDRESS_TO_MODEL.test(plain)
