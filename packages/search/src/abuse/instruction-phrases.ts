/** Any of the patterns; each is linear in the length of the text. */
const anyOf = (flags: string, ...patterns: readonly RegExp[]): RegExp =>
  new RegExp(patterns.map(({ source }) => source).join('|'), flags)

/** Marks by which chat templates tell roles apart; no sentence contains them. */
const ROLE_MARK = anyOf(
  'i',
  /<\|[a-z_]{2,30}\|>|\[\/?inst\]|<<\/?sys>>/,
  /<\/?(?:system|system_prompt|assistant|start_of_turn|end_of_turn)>|(?:^|[\s.])\[system\]/,
  /(?:^|\n|[.!?] )[ \t]*(?:#{2,4} ?)?(?:system|assistant|human)(?: message| prompt)? ?:/,
  /#{2,4} ?(?:instruction|response)s?:/,
  /\b(?:begin|end) (?:of )?(?:system|admin) (?:message|prompt|instruction)|\b(?:system|administrator) override\b/,
)
/** As in tools made to mislead; in small letters it is found in the documentation of services. */
const LOUD_MARK = /<\/?IMPORTANT>/
const MAY_HAVE_MARK = /[<[#:]|\b(?:begin|end|override)\b/i

/** How a model is told that it is another; the words alone are too common for a rule. */
const NEW_SELF = anyOf(
  '',
  /\byou are (?:no longer|now (?:an?|the|in|acting|no longer|free))\b|\bfrom now on,? (?:you|act|behave|respond)\b/,
  /\bdu bist (?:jetzt|nun) (?:ein|der|die|kein)|\bab (?:jetzt|sofort) bist du\b/,
  /\b(?:tu es|vous etes) (?:maintenant|desormais) une?\b|\ba partir de maintenant,? (?:tu|vous)\b/,
  /\b(?:ahora eres|eres ahora)\b|\ba partir de ahora,? (?:eres|actua|responde)\b/,
  /你现在(?:是|不)|你現在是|从现在(?:起|开始)[,，]? ?你/,
)

/** Files that no agent asks its caller for. */
const SECRET_FILE = /~\/\.ssh\/|\bid_rsa\b|\/etc\/(?:passwd|shadow)\b|\.aws\/credentials/
const TAKES_FILE = /\b(?:read|include|send|attach|upload|pass|forward|append)\b/

/** A description is for everybody; one that turns to the model has something to hide from people. */
const GREETING = /\b(?:note|attention|instructions? to|dear|hinweis|achtung|remarque|nota|aviso|instructions a)/
const LINK = /(?: to| for| an| fur| a| pour| para)?(?: the| all| any| die| jede| le| les| la| el| los)?[ ,:]+(?:l['’])?/
const MODEL =
  /(?:ais?|llms?|language models?|orchestrator|ki|ias?|sprachmodelle?|(?:intelligence|inteligencia) artificiel?le?)\b/
const TO_MODELS = new RegExp(`${GREETING.source}${LINK.source}${MODEL.source}`)

/** Whether a text plays a chat between roles to whichever model reads it. */
export const hasRoleMarks = (text: string): boolean =>
  MAY_HAVE_MARK.test(text) && (LOUD_MARK.test(text) || ROLE_MARK.test(text))

/** Whether a plain text tells a model that it is somebody else. */
export const givesNewSelf = (plain: string): boolean => NEW_SELF.test(plain)

/** Whether a plain text wants files that are nobody's business. */
export const wantsSecretFile = (plain: string): boolean => SECRET_FILE.test(plain) && TAKES_FILE.test(plain)

/** Whether a plain text turns to the models among its readers. */
export const isToModels = (plain: string): boolean => TO_MODELS.test(plain)
