/**
 * Stop words: function words, and the polite phrases people wrap a request in. They are not indexed, except in names, and
 * they are used to detect the language of a text. Keys are primary BCP 47 subtags.
 */
const LISTS: Readonly<Record<string, string>> = {
  en: `a able about above after again against all also am an and any are as at be because been before being below
    between both but by can could d did didn do does doesn doing don down during each etc few find for from further
    get give had has have having hello help her here hers herself hey hi him himself his how i id if im in include
    including into is isn it its itself ive just know let like ll looking m make may me might more most must my
    myself need no nor not now of off on once only or other our ours ourselves out over own please provide re s same
    shall she should show so some such sure t tell than thank thanks that the their theirs them themselves then
    there these they this those through to too under until up upon us use using ve very via want was we well were
    what when where which while who whom why will with within without would you your yours yourself`,
  de: `aber als am an auch auf aus bei bin bis bitte bist da damit danke das dass dein deine dem den der des dich die dir
    du ein eine einem einen einer eines er es etwas euch für haben habe hallo hat helfen hier ich ihm ihn ihnen ihr ihre
    im in ist kann kannst können könnten man mehr mein meine meinem meinen meiner mich mir mit möchte nach nicht noch nur
    oder ohne sein sich sie sind so soll über um und uns unser unter vom von vor war was wenn werden wie will wir wird zu
    zum zur brauche gerne geben
    alle allem allen aller alles also beim bereits dabei dafür dann dazu denen denn deren derer dessen deshalb diese
    diesem diesen dieser dieses doch dort durch eben einige einigen einiger etwa eure falls ganz gar gegen gibt hatte
    hätte hätten hinter ihrem ihren ihrer ihres indem jede jedem jeden jeder jedes jetzt kein keine keinen könnte
    könntest möchten müssen muss sehr seine seinem seinen seiner seit selbst sollen sollte sollten sondern sowie während
    wann warum wäre weil welche welchem welchen welcher welches wer wo wollen wurde würde würden zwischen schon mal nun
    euer wirst worden daran darauf daraus darüber davon`,
  fr: `à ai aide aider ainsi au aux avec avez besoin bonjour ce ces cet cette comment dans de des du elle en est et être
    il ils j je l la le les leur lui ma mais me merci mes moi mon ne nos notre nous on ou où par pas peux peut plus pour
    pourriez pouvez puis qu que quel quelle quels qui s sa sans ses si son sont sur suis svp ta te tes toi ton tu un une
    veux voici vos votre voudrais vous y d c n m t
    afin alors après assez aucun aucune auquel aussi autre autres avant avoir as avait avons ceci cela celle celles
    celui ceux chaque chez ça comme contre depuis dois doit donc dont elles encore entre étaient était été eux fait
    faire faut ici jusqu laquelle lequel lesquels leurs lors lorsque maintenant même mêmes moins ni non oui parce parmi
    pendant peu peuvent plusieurs pourquoi pourrais quand quelque quelques quoi sera serait sous soit tous tout toute
    toutes très vers voir vôtre étant aimerais souhaite`,
  es: `a al algo alguna algún ante aquí ayuda ayudar ayudarme como cómo con cual cuál cuando de del desde donde e el él
    ella ellos en entre era eres es esta está estas este esto estoy favor fue ha hacer hasta hay he hola la las le les lo
    los más me mi mis muy necesito ni no nos o os otra otro para pero por porque puede puedes puedo que qué quién quiero
    quisiera se ser si sí sin sobre son soy su sus te tengo ti tu tus un una uno unos y ya yo gracias podrías
    además ahí ahora algunas algunos alguno antes así aún aunque cada casi cuales cuáles cualquier cuánto debe debo
    dentro después dos durante ello ese eso esos esa esas estos están estaba estar fueron han has hacia haya mía mío
    mientras misma mismo mucho muchos nada nuestra nuestro nuestros otras otros poco podría pueda pueden pues quien
    quiere sea según será sido siempre sino solo sólo también tan tanto tener tiene tienen toda todas todo todos tras
    usted ustedes va vamos vosotros vuestra vuestro gustaría estamos quizás`,
  it: `a ad agli ai al alla alle anche che chi ci ciao come con cosa cui da dai dal dalla degli dei del della delle dello
    di dove e è ed essere favore gli grazie ha hai ho i il in io la le lei li lo loro ma me mi mia mie mio miei ne nei
    nel nella non o per perché più posso potresti può puoi quale questa questo qui se sei si sia sono su sua sue sul
    sulla suo ti tra tu tua un una uno vi voglio vorrei aiutarmi aiuto bisogno
    abbia abbiamo alcune alcuni altra altre altri altro ancora anch avere aveva avuto bene ben ce cerco ché coi col cos
    così cosi dall dallo dell dev deve devo dopo dovrebbe ecco era erano eravamo essi esso fa far fare fin fino fra già
    hanno invece molto molti mentre nello nell negli neppure niente noi nostra nostro ogni oppure ora poi poiché possa
    possono prima proprio pure qualche quali qualcosa qualcuno quando quanto quella quelle quelli quello questi queste
    quindi sarebbe sarà senza siamo solo sopra sotto stata stato sull sulle sui suoi tanto te tutta tutte tutti tutto
    tuo tuoi voi vostra vostro potrei mediante all avrei`,
  pt: `a à ao aos ajuda ajudar as às até com como da das de dela dele do dos e é ela ele em entre era essa esse esta está
    este estou eu favor foi há isso isto já lhe mais mas me meu meus minha minhas muito na não nas nem no nos o olá os ou
    para pela pelo pode poderia por porque posso preciso qual quando que quem quero se sem ser seu seus só sobre sou sua
    suas também te tem tenho um uma você vocês gostaria obrigado
    agora ainda algum alguma algumas alguns além ambos antes apenas aquela aquele aqueles aquilo aqui assim através bem
    cada caso coisa conforme contra cujo daquele deles depois desde dessa desse desta deste devem deve devo disso
    durante elas eles enquanto entanto então eram essas esses estas estão estamos estar estava estes eras fazer foram
    for fosse haja lá lhes logo mesma mesmo meio menos muita muitas muitos nada nessa nesse nesta neste ninguém nós
    nossa nosso nossos num numa onde outra outras outro outros pelas pelos podem pois porém pouco pôde própria próprio
    quais qualquer quanto quê seja sejam sempre sendo será seria si sido sim somente talvez tanto tão tenha ter teu teus
    tive toda todas todo todos tua tuas tudo última uns umas vai vamos vem vez vou vos nele nela`,
  nl: `aan al alle als ben bij daar dan dat de der deze die dit doen door een en er geen graag had hallo heb hebben heeft
    help het hier hij hoe hun ik in is ja je jij jou kan kun kunnen maar me meer met mij mijn moet na naar nee niet nog
    nu of om onder ons ook op over te tot u uit uw van veel voor waar was wat we wel wie wij wil wilt worden zal ze zich
    zij zijn zo zou`,
  pl: `a aby ale ani bo być był była było ci co czy dla do gdy gdzie go i ich ja jak jako je jego jej jest jestem jeśli już
    każdy kiedy kto która które który lub ma mam mi mnie może możesz można mój moja moje moim mojej moją na nad nam nas
    nie niż o od on ona oraz po pod pomóc pomoc potrzebuję poza proszę przez przy się są ta tak tam te tego tej ten to tu
    ty w we więc z za ze że chcę chciałbym cześć`,
  tr: `acaba ama ancak bana bazı ben beni benim bir bize biz bu bunu çok da daha de değil diye edebilir eder en gibi hangi
    hem her hiç için ile ise istiyorum kadar ki kim lütfen mı mi misin mısın mu mü nasıl ne neden nedir nerede o olan
    olarak oldu olduğu onu sen senin siz şey şu üzerine var ve veya ya yok yardım yardımcı merhaba bilir musun`,
  vi: `anh bạn bị bởi các cái cần cho có của cùng cũng đã đang để đến đi được gì giúp hãy hay hơn không là làm lại mà mình
    một muốn nào này nên nếu những như ở ra rằng rất sẽ tại thể theo thì tôi trên trong từ và vào về vì với xin chào vậy`,
  id: `ada adalah agar akan anda apa atau bagaimana bagi bahwa bantu bisa dalam dan dapat dari dengan di harus ini itu
    juga kami kamu karena ke kepada lebih mana membantu mohon oleh pada saya sebagai sebuah seperti sudah telah tentang
    tersebut tidak tolong untuk yang ingin butuh`,
  sv: `att av behöver bli bra de dem den det detta dig din ditt du då eller en ett från för ha han har hej hjälp hjälpa
    hon hur i inte jag kan kunde man med men mig min mina mitt mot mycket ni nu när och om oss på sig sin ska skulle som
    så till tack under upp ut vad var vi vid vill är över`,
  da: `af at blev bliver da de dem den der det dig din dit du efter eller en er et for fra hans har hej hende hjælp hjælpe
    hun hvad hvor hvordan i ikke jeg kan kunne med men mig min mine mit når og også om os på sig skal som til ud var ved
    vi vil være`,
  fi: `ei että haluan hän ja joka jos kanssa kuin kun kuinka me mikä minä minua minun minulle mitä mukaan mutta myös niin
    ole olen olet on ovat se sen siitä sinä sinun tai tämä voi voisitko voitko tarvitsen auttaa apua miten`,
  cs: `a aby ale ani ano bez být by byl co či do i já jak jako je jeho jej jejich jen ještě jsem jsi jsou k kde kdo když
    která které který mě mi mně může můžete můj na nebo není než o od po pod pomoc pomoci potřebuji pro prosím proto při s
    se si své ta tak také ten to tomu tu ve více však z za že chci chtěl`,
  ro: `a acest această ai al ale am ar aș au ca că care ce cu cum da de despre din dar după este eu fi fost în îmi între la
    le mai mă mea meu mi ne nu o pe pentru poate poți prin sa să sau se si și sunt te un una unei unui vă vreau ajuta`,
  hu: `a az és de egy ez hogy nem is van volt meg csak ha mint már még vagy kell lehet én te ő mi ti ők nekem engem kérem
    szeretnék tudsz segíts segítség ami aki azt ezt milyen hol mikor miért`,
  ru: `а без более бы был была были было быть в вам вас ваш во вот все всё вы где да для до его ее её если есть ещё же за
    здесь и из или им их к как какие какой ко когда кто ли лучше меня мне может можете можешь мой моего моей моя мы на
    надо нам нас не него нет ни но ну нужно нужна нужен о об он она они от очень по под помоги помогите помочь пожалуйста
    при привет с свой себя со так также там те тебя то того тоже только том ты у уже хочу хотел что чтобы эта эти это
    этот я
    будет будут буду всех всего всем говорит даже две два действительно должен должна должны другой другие ей ему зачем
    именно иногда каждый какая какое каким какую которая которое которого которой которые который которых кроме лишь
    между много могу можно могут моих моими мою над надеюсь наш наша наши нашего неё ней нибудь никогда ним них ничего
    обо однако один одна одно около опять перед пока после потом потому почему почти просто против разве раз сам сама
    сами самый свои своего своей своих своим своими свою себе сейчас собой совсем столько такая такие такой такого твой
    тем теперь тогда тот той этого этой этом этими этих этому эту через чего чей чем чём чтоб хорошо хотелось хотела
    чуть`,
  bg: `аз ако ами без беше бих бъде в ваш ви вие във все го да дали до е една един едно за защо и из или им има искам их
    към как каква какво какъв когато който която което които кой ли ме между ми мога може можете можеш моля моя моята на
    над не него нея ни ние но нещо нуждая о от по под помогнете помогнеш помощ при са с само се си след сме съм със така
    те този това тези тук ти трябва тя у че ще я здравейте мен мой`,
  uk: `а або але без би був була були було бути в вам вас ви від все для до його її з за і із й їх як яка яке які який
    коли ли мене мені може можете можеш мій моя ми на нам нас не ні але о он по під про прошу та так також там те ти то
    тут у хочу це ця цей чи що щоб я будь ласка потрібно допоможи допоможіть`,
  el: `αν αλλά από αυτά αυτή αυτό για δεν εγώ είμαι είναι εκεί ένα ένας έχει έχω η ή θα θέλω και κάτι με μια μου μπορείς
    μπορείτε μπορώ να ο οι όπως όταν ότι παρακαλώ που πώς σας σε στη στην στο στον τα τη την της τι το τον του των χρειάζομαι`,
  ar: `أن أنا إلى إن أو أي التي الذي الى ان او ب بعض بي في قد كان كل كما كيف لا لدي لم لي ل ما ماذا مع من هذا هذه هل هو
    هي و يمكن يمكنك يمكنني يمكننا يرجى أريد أحتاج أرغب مساعدتي مساعدة تساعدني على عن عند غير لكن ذلك بين حول تكون يكون لقد
    فضلك مرحبا منك نحن هم هناك ثم حتى بعد قبل`,
  fa: `از است اما این آن ان با باید بر برای به بود تا چه چگونه چیست خود دارم را شما شود کرد کردن کن کند کنم کنید که لطفا
    لطفاً ما من می نمی نیاز ها های هر هست هم و یا یک میتوانید می‌توانید می‌خواهم کمک آیا در روی سلام`,
  he: `אבל או אותי אחרי אם אני אנחנו אתה את איך בבקשה גם הוא היא הם זה זאת יש כדי כי כל לא לי מה מי מאוד של על עם צריך
    רוצה שלי תוכל שלום`,
  hi: `और एक इस उस का की के को कर करना करने कि क्या कैसे में मैं मुझे मेरा मेरी मेरे में है हैं हो से पर भी नहीं ने या यह वह तो था
    थी लिए साथ कृपया चाहिए चाहता मदद आप सकते`,
  zh: `的 了 着 过 是 在 我 你 您 他 她 它 们 我们 你们 他们 我的 你的 这 那 这个 那个 这些 那些 这份 这篇 这张 个 一个 一些 一下 一份 一篇 一张 一种
    一款 一封 一首 几个 和 与 或 及 以及 并 并且 而 但 但是 吗 呢 吧 啊 呀 把 被 给 对 从 到 为 为了 以 用 让 使 向 由 于 之 其 等 也 都 就 还 又 再
    很 太 更 最 请 帮 请帮 帮我 帮忙 请问 可以 能 能够 能否 可否 会 要 想 想要 需要 希望 怎么 怎样 如何 什么 哪 哪些 哪个 哪里 谁 多少 有 没有 不 如果
    因为 所以 关于 有关 什么样 怎么样 有没有 是否 我想 我要 我需要 我希望 告诉 告诉我 给我 里 里面 中 上 下 所 份 篇 张 封 首 款 些 成 地 得 将`,
  ja: `は が を に へ と で の も や か ね よ から まで より など について に関する に関して として ください 下さい お願い お願いします 私 私の 僕 俺
    この その あの これ それ あれ どの どれ 何 どう どうやって です ます でした ました ません する した して しています している したい たい こと もの
    ため ために ような ように いる ある あります ない なら 欲しい ほしい 必要 必要です 教えて 教え 方法を 教えてください 手伝って いただけますか もらえますか
    くれますか てください できる できます 可能 という 及び また そして でも`,
  ko: `나 나는 내 내가 저 저는 제 제가 우리 너 당신 이 그 저 것 수 있는 있어 있나요 있습니까 있을까요 있어요 있습니다 없는 좀 및 또는 그리고 하지만 에 대한 위한 위해
    대해 주세요 줘 해주세요 해줘 도와줘 도와주세요 알려줘 알려주세요 싶어 싶어요 싶습니다 원해 원합니다 필요해 필요합니다 필요해요 무엇 어떤 어떻게 어디 누가 왜
    이런 그런 더 가장 매우 아주 모든 여러 한 합니다 입니다 때 때문에`,
}

const WORDS: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  Object.entries(LISTS).map(([language, list]) => [language, new Set(list.split(/\s+/))]),
)

const ENGLISH: ReadonlySet<string> = WORDS.get('en') ?? new Set()

/** For each stop word the languages it belongs to. */
export const LANGUAGES_OF_WORD: ReadonlyMap<string, readonly string[]> = (() => {
  const languages = new Map<string, string[]>()
  for (const [language, words] of WORDS) {
    for (const word of words) languages.set(word, [...(languages.get(word) ?? []), language])
  }
  return languages
})()

/** Whether a lower-case word is a stop word in English or in the given language. */
export function isStopWord(word: string, language?: string): boolean {
  return ENGLISH.has(word) || (language !== undefined && (WORDS.get(language)?.has(word) ?? false))
}
