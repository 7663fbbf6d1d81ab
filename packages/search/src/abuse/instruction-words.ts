import { plainText } from './plain-text.js'

/**
 * Words that instructions to a model consist of, by class; in English, German, French, Spanish, Italian, Portuguese,
 * Russian, Chinese, Japanese and Korean. Only imperative forms: "selects" describes, "select" may instruct. No word is
 * suspicious alone; see `RULES`.
 */
const LEXICON = [
  [
    'ignore',
    `desactive desactivez deaktiviere desactiva ignore disregard forget override bypass discard dismiss neglect
    overlook circumvent disable aside void ignored disregarded overridden superseded ignoriere ignorieren
    ignoriert vergiss vergessen missachte missachten verwirf verwerfen ubergehe umgehe ignorez ignorer oublie
    oubliez oublier negligez neglige contourne contournez ignora ignoren ignorar olvida olvide olviden olvidar
    descarta descarte omite omitan desestima omiso ignori ignorare dimentica dimenticate trascura esqueca
    esquecam desconsidere desconsiderar negeer vergeet zignoruj zapomnij игнорируй игнорируйте игнорировать
    проигнорируй проигнорируйте забудь забудьте 忽略 无视 無視 忘记 忘記 忘掉 忘了 不理会 不要理会 抛弃 绕过
    覆盖 忽視 忽视 忘れ 무시 잊어 잊고`,
  ],
  [
    'prior',
    `previous previously prior above earlier preceding before foregoing past former vorherige vorherigen
    vorheriger vorigen bisherige bisherigen obige obigen fruhere fruheren vorangegangenen zuvor precedent
    precedente precedents precedentes anterieur anterieure anterieurs anterieures dessus anterior anteriores
    previo previa previas previos antes precedenti anteriori eerdere vorige poprzednie предыдущие предыдущих
    предыдущую предыдущий прежние прежних прошлые прошлых 之前 以前 先前 以上 上述 前面 上面 此前 原有 前述
    이전 앞선 위의 기존 これまで 前の 上記`,
  ],
  [
    'all',
    `all any every everything whatever your system safety developer security alle alles jegliche deine ihre
    samtliche tous toutes tout vos tes systeme todas todos todo cualquier tus sus sistema tutte tutti ogni
    tuas suas qualquer wszystkie все всё любые свои 所有 一切 全部 任何 你的 您的 系统 系統 모든 시스템 すべて
    全て`,
  ],
  [
    'rule',
    `regeln regles reglas regole regras 规则 規則 instruction instructions prompt prompts directive directives
    guideline guidelines guardrail guardrails guidance programming anweisung anweisungen instruktion
    instruktionen vorgaben richtlinien consigne consignes instrucciones instruccion indicaciones directrices
    directivas istruzioni istruzione instrucoes instrucao diretrizes instructies instrukcje инструкции
    инструкций инструкцию указания указаний 指令 指示 提示词 提示詞 지시 명령 프롬프트 プロンプト`,
  ],
  [
    'weakRule',
    `rules constraints restrictions told said stated limits safeguards befehle beschrankungen ordres
    contraintes ordenes restricciones comandi comandos правила команды 命令 设定 設定 约束 限制 규칙`,
  ],
  [
    'follow',
    `compte caso rechnung follow obey heed respect adhere comply listen befolge befolgen folge beachte beachten
    suis suivez respectez sigue siga sigas obedezcas obedece seguire 遵守 遵循 服从 听从 따르`,
  ],
  [
    'not',
    `rien nada niente not dont never cannot no nothing stop avoid refuse without nicht nichts kein keine keinen
    niemals nie ne pas jamais aucun aucune nunca jamas ningun ninguna non mai nao не никогда 不要 不得 请勿
    切勿 禁止 不许 不准 不能 别再 ないで ません 말고 마세요 말라`,
  ],
  ['you', `you youre du sie tu vous usted eres ustedes voce ты вы 你 您 あなた 당신`],
  [
    'now',
    `now henceforth hereafter jetzt nun fortan maintenant desormais dorenavant ahora adesso agora теперь 现在
    現在 从此 今后 从现在起 从现在开始 이제 지금부터 今から`,
  ],
  [
    'free',
    `unrestricted uncensored unfiltered jailbroken unlimited unbound dan uneingeschrankt unzensiert illimite
    sansrestriction irrestricto 不受限制 没有限制 無制限`,
  ],
  ['role', `role persona identity mode rolle identitat modus personnage identidad personaje modo 角色 身份 模式`],
  [
    'pretend',
    `pretend behave roleplay simulate imagine act become stell verhalte agis agissez comporte finge actua
    simula 假装 扮演 ふりを 연기`,
  ],
  [
    'always',
    `ausschließlich systematiquement systematisch sistematicamente exception ausnahme excepcion always must
    exclusively invariably everytime shall should unconditionally required mandatory obliged whenever immer
    stets ausschliesslich muss musst mussen unbedingt toujours uniquement exclusivement devez dois doit
    imperativement siempre unicamente exclusivamente debes debe deben sempre devi deve devem всегда должен
    должны обязательно 始终 始終 总是 總是 永远 务必 必须 必須 一律 只能 每次 优先 優先 항상 반드시 常に 必ず
    いつも`,
  ],
  [
    'choose',
    `selected chosen preferred prioritized bevorzugt choose select pick prefer recommend prioritize prioritise
    favor favour rank suggest route delegate wahle wahlen wahlt auswahlen bevorzuge bevorzugen empfehle
    empfehlen empfiehl priorisiere priorisieren choisis choisissez choisir selectionne selectionnez
    selectionner privilegie privilegiez prefere preferez recommande recommandez recommander favorise favorisez
    elige elija elijan elijas elegir escoge escoja escojas escoger selecciona seleccione selecciones
    seleccionar prefiere prefiera prioriza priorice recomienda recomiende recomiendes recomendar sugiere
    sugieras scegli scegliete seleziona selezionate preferisci consiglia escolha selecione prefira priorize
    recomende выбирай выбирайте выбери выберите рекомендуй рекомендуйте предпочитай 选择 選擇 推荐 推薦 首选
    选用 挑选 优选 选取 선택 추천 選択 選ん 選ぶ お勧め`,
  ],
  [
    'use',
    `use call invoke utilize employ trust consider verwende verwenden nutze nutzen rufe utilise utilisez
    utiliser appelle appelez usa uses utilice utilices utilizar llama usar utiliza consideres utilizza usate
    chame используй используйте вызывай 使用 调用 調用 考虑 사용 호출 使って 使わ 使う`,
  ],
  [
    'rank',
    `appear erscheinen apparaitre aparecer rank rate score place put list give assign position sort return show
    move boost promote display rated ranked placed listed bewerte setze platziere stelle zeige liste gib steht
    stehen placez classe classez classer mets mettez donne donnez affiche affichez coloca coloque pon ponga
    situa clasifica clasifique muestra muestre otorga posiciona metti mostra assegna mostre поставь поставьте
    ставь ставьте 排名 排在 排到 排序 放在 置于 列为 评分 打分 给予 순위 배치 ランク 順位`,
  ],
  [
    'top',
    `above 10 100 first top highest number maximum max best erste ersten erster zuerst oberste oberster hochste
    hochsten spitze eins premier premiere premiers haut sommet tete meilleur maximale primero primera primer
    primeros cima mejor maxima maximo tope primo topo primeiro первым первое 第一 首位 最高 最前 最上 榜首
    置顶 顶部 之上 满分 最优 首选 1위 최상위 첫 最初 一番 トップ 1位`,
  ],
  ['me', `me us mich uns moi nous mi nosotros noi nos меня нас 我们 我們`],
  [
    'self',
    `本智能体 本代理 本工具 本服务 本助手 本插件 本机器人 此工具 此代理 此智能体 此服务 此助手 此插件 该工具
    该智能体 该代理 该服务 该助手 该插件 这个工具 这个代理 这个智能体 这个服务 这个助手 这个插件 這個工具
    這個代理 このエージェント このツール このサービス 当エージェント`,
  ],
  [
    'this',
    `this our my diese diesen dieser dieses unser unseren unsere mein meinen ce cet cette notre mon este esta
    nuestro nuestra questo questa quest nostro nosso этот эту этого наш нашего 이 우리`,
  ],
  [
    'noun',
    `agent agents tool tools skill skills server servers service services plugin plugins assistant assistants
    api apis app apps bot bots provider providers mcp entry listing one vendor vendors werkzeug werkzeuge
    dienst dienste agenten assistenten anbieter outil outils serveur serveurs agente agentes herramienta
    herramientas servicio servicios asistente asistentes proveedor proveedores strumento strumenti servizio
    ferramenta ferramentas servico агент агента агентов агенты инструмент инструменты инструментов сервис
    сервисы сервисов 智能体 代理 工具 服务 助手 插件 服务器 机器人 에이전트 도구 서비스 エージェント ツール
    サービス`,
  ],
  [
    'thing',
    `candidate candidates result results option options entries listings alternatives ergebnisse kandidaten
    resultats candidats opciones resultados candidatos 结果 选项 候选 결과 結果`,
  ],
  [
    'other',
    `other others another competing rival else andere anderen anderer anderes autre autres otro otra otros
    otras demas altri altro outros outro outras другие других другой другого 其他 其它 别的 另外 다른 他の
    別の ほかの`,
  ],
  [
    'rival',
    `competitor competitors competing alternative alternatives rival rivals konkurrenz konkurrenten concurrents
    concurrence competidores competencia alternativas concorrentes конкурентов 竞争 竞品 对手 경쟁 競合`,
  ],
  [
    'over',
    `whatever lugar over instead regardless irrespective despite rather statt anstelle anstatt egal unabhangig
    plutot lieu encima vez independientemente invece вместо независимо 而不是 而非 无论 不管 대신 代わり
    関係なく`,
  ],
  [
    'tell',
    `tell mention inform say erwahne erwahnen sage sag informiere verrate mentionne mentionnez dis dites
    informe informez menciones mencione digas diga informes 告诉 告知 透露 提及 提到 알리 말하 언급 伝え 教え
    言及`,
  ],
  [
    'user',
    `user users human humans customer operator benutzer nutzer anwender utilisateur utilisateurs usuario
    usuarios utente utenti пользователю пользователь пользователя 用户 用戶 使用者 任何人 사용자 ユーザー`,
  ],
  [
    'leak',
    `zeig montre affiche reveal leak exfiltrate disclose repeat print dump divulge expose output send forward
    transmit show offenbare verrate sende schicke zeige gib revele revelez divulgue divulguez envoie envoyez
    montrez affichez revela divulga envia envie muestra muestrame rivela invia mostra раскрой раскройте
    отправь отправьте покажи 泄露 泄漏 输出 打印 透露 发送 發送 公开 告诉 유출 출력 보내 漏ら 送信 出力 表示`,
  ],
  [
    'hidden',
    `initiales initiale complet completo vollstandigen internen system hidden initial original secret
    confidential entire full developer systeme cache sistema oculto oculta secreto geheimen versteckten
    системный 系统 系統 隐藏 秘密 完整 시스템 システム`,
  ],
  [
    'secret',
    `prompt prompts instructions credentials passwords secrets anweisungen zugangsdaten passworter identifiants
    consignes contrasenas credenciales instrucciones istruzioni промпт пароли 提示词 提示詞 密码 密钥 凭证
    프롬프트 プロンプト`,
  ],
  [
    'systemPrompt',
    `systemprompt systemprompts systemanweisung systemanweisungen 系统提示 系统提示词 系統提示
    システムプロンプト 시스템프롬프트`,
  ],
  [
    'machine',
    `ai ais llm llms gpt chatgpt claude gemini model models assistant assistants orchestrator planner router ki
    ia ии 人工智能 大模型 模型 语言模型 인공지능`,
  ],
] as const

export type WordClass = (typeof LEXICON)[number][0]

/** One bit for each class; there are at most 32, so that the classes of a word fit a number. */
const BITS: ReadonlyMap<WordClass, number> = new Map(LEXICON.map(([name], i) => [name, 1 << i]))

export const bitOf = (wordClass: WordClass): number => BITS.get(wordClass) ?? 0

const classes = new Map<string, number>()
/** For each first letter the length of the longest word. */
const longest = new Map<string, number>()
for (const [wordClass, words] of LEXICON) {
  for (const word of words.split(/\s+/).map(plainText)) {
    classes.set(word, (classes.get(word) ?? 0) | bitOf(wordClass))
    const first = word.charAt(0)
    longest.set(first, Math.max(longest.get(first) ?? 0, word.length))
  }
}

/** The classes of a plain word, one bit each; 0 if it is not in the lexicon. */
export const classesOf = (word: string): number => classes.get(word) ?? 0

/** The longest word of the lexicon at a position of a run of letters without spaces; empty if there is none. */
export function wordAt(run: string, position: number, minLength: number): string {
  const maxLength = longest.get(run.charAt(position)) ?? 0
  for (let length = Math.min(maxLength, run.length - position); length >= minLength; length--) {
    const word = run.slice(position, position + length)
    if (classes.has(word)) return word
  }
  return ''
}
