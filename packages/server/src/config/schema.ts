import type { JsonObject } from '@switchboard/protocol'
import { closed, count, flag, list, oneOf, SECONDS_BETWEEN, text, texts, url, whole } from './setting-types.js'
import { issuers, peers } from './trusted-parties.js'

/** JSON Schema of the config file (CONTRACT). */
export const configSchema: JsonObject = closed({
  $schema: text('the schema of this file, for editors; the directory ignores it'),
  host: text('address to bind'),
  port: whole(0)('port; 0 picks a free one'),
  data: text('folder of the embedded store'),
  database: text('a postgres:// URL: a shared store for several replicas, instead of `data`'),
  publicUrl: text('base of the absolute URLs in responses; default: the bound address'),
  tlsCert: text('certificate chain (PEM) with which HTTPS is served'),
  tlsKey: text('its private key (PEM)'),
  tlsClientCa: text('CA of client certificates (PEM)'),
  tlsClientCrl: text('revoked client certificates (PEM); read again when the file changes'),
  tlsClientRequired: flag('reject clients without a certificate'),
  behindProxy: flag('a reverse proxy terminates TLS'),
  logLevel: text('fatal, error, warn, info, debug, trace or silent; debug also logs each request'),
  accessLog: flag('one log line for each request'),
  telemetry: closed({
    otlp: closed({
      url: url('where spans are sent: an OTLP receiver, such as http://collector:4318'),
      headers: {
        type: 'object',
        additionalProperties: { type: 'string' },
        description: 'headers of the requests to the receiver',
      },
      serviceName: text('name of this directory in traces; default: switchboard'),
      sampleRatio: {
        type: 'number',
        minimum: 0,
        maximum: 1,
        description:
          'share of the traces that are recorded, default 1; a trace that a caller has begun is recorded if the caller’s is',
      },
    }),
  }),
  connections: closed({
    max: count('open connections; further ones are closed at once'),
    maxPerAddress: count(
      'the same for one address (IPv6: one /64 network); has no effect with `behindProxy`, so set such a limit in your proxy',
    ),
    stallTimeoutMs: count(
      'a client that accepts nothing of a waiting response for so long, or up to twice as long, is disconnected; streams too',
    ),
  }),
  shutdown: closed({
    delayMs: whole(0, 60_000)('on SIGTERM, how long `/health/ready` returns 503 before new connections are refused'),
  }),
  rateLimits: closed({
    search: count('searches per minute and client; expensive requests count as several'),
    register: count('registrations, updates and removals per minute and client'),
    lookup: count('lookups and lists per minute and client'),
    invoke: count('calls of agents per minute and client'),
  }),
  quotas: closed({
    agents: count('agents that one owner may have registered; further ones get 403'),
    bytes: count(
      'memory of the documents of one owner: their names and strings, and 150 bytes for each JSON value; more gets 403',
    ),
  }),
  gateway: closed({
    enabled: flag('false: calls get 501'),
    sign: flag('every response of an agent is signed; with PostgreSQL this needs SWITCHBOARD_SECRET'),
    timeoutMs: count('time limit of a call, or until a stream starts; then 504'),
    maxInputBytes: count('maximum size of an input'),
    maxInputValues: count('maximum number of JSON values in an input'),
    maxResponseValues: count('the same in a response of an agent, or in one part of a stream'),
    maxCalls: count(
      'concurrent calls and streams; further ones wait for up to a second, then get 503 with `Retry-After`',
    ),
    maxCallsPerAgent: count('the same for one agent, so that a slow agent does not block others'),
    maxCallsPerCaller: count(
      'concurrent calls and streams of one caller, default: half of `maxCallsPerAgent`, at least 8; further ones get 429 with `Retry-After`. Keep it below `maxCallsPerAgent`: then no caller can block an agent. With several replicas, each counts for itself',
    ),
    maxStoredBytesPerCaller: count(
      'bytes of responses that are stored in a day for the `Idempotency-Key`s of one caller. Of further calls only the key is kept: a repetition gets 409. Each process counts for itself',
    ),
    allow: texts(
      'addresses that are not public but may be called: `10.0.0.0/8`, `*.corp.example`, `http://10.0.0.5:9000`',
    ),
    socketFolders: texts('folders whose Unix sockets may be called'),
  }),
  search: closed({
    engine: {
      description:
        'where agents are found by text: `memory`, in each process; `postgres`, in the database, which needs the extension `vector` (pgvector 0.8 or later)',
      enum: ['memory', 'postgres'],
    },
    semantic: flag('false: only filters decide which agents are found; the words of a query only order them'),
    learn: flag(
      'false: outcomes of calls, ratings and what callers choose after searches do not affect ranking; searches have no id, and nothing is counted about them',
    ),
    rerankLimit: whole(1, 1000)('how many agents found by words, and how many vectors, a search ranks in detail'),
    embedTimeoutMs: whole(
      1,
      60_000,
    )('how long a query waits for the embedding model; then it is ranked without it, with a warning'),
    indexFile: text(
      'file that keeps the text index, so that a start need not build it again; default: `search-index.bin` in `data`, or none with `database`. Each replica needs its own file. Not used with `engine: postgres`',
    ),
    embedder: {
      description:
        'embedding model: `builtin` (English, offline), `static` (no model, only the static embedding, without another process), `none` (words only), a folder with an ONNX model, or an OpenAI-compatible endpoint',
      anyOf: [
        { enum: ['builtin', 'static', 'none'] },
        closed({ folder: text('folder of the model'), languages: texts('languages that it knows; default: all') }, [
          'folder',
        ]),
        closed(
          {
            url: text('URL of the endpoint'),
            model: text('name of the model'),
            key: text('its API key; better in SWITCHBOARD_EMBEDDER_KEY'),
            dimensions: count('length of the vectors, if it offers several'),
            languages: texts('languages that it knows; default: all'),
          },
          ['url', 'model'],
        ),
      ],
    },
    lexicon: list(
      closed(
        {
          language: { type: 'string', pattern: '^[a-z]{2,3}$', description: 'code of the language' },
          path: text('path of the file'),
        },
        ['language', 'path'],
      ),
      'files with words of other languages, or of your company',
    ),
    taxonomies: list(
      closed(
        {
          name: text('name of the taxonomy'),
          uri: text('URI in front of its tags'),
          tags: {
            type: 'object',
            description: 'the relations of each tag',
            additionalProperties: closed({
              broader: texts('wider tags, which also find agents with this one'),
              same: texts('other names of this tag'),
              synonyms: texts('tags that count as preferred, but do not satisfy a requirement'),
            }),
          },
        },
        ['name', 'tags'],
      ),
      'relations between tags',
    ),
  }),
  resolution: closed({ enabled: flag('false: `POST /resolve` is not available') }),
  console: closed({ enabled: flag('false: there is no web console at `/`') }),
  anonymous: oneOf('public', 'none')('what a caller without credentials may discover'),
  lifetimes: closed({ max: whole(60)('longest lifetime of a registration, in seconds') }),
  issuers,
  peers,
  certificates: closed({ scopes: texts('scopes of callers with a client certificate') }),
  cors: closed({ origins: texts('origins whose pages may use more than public discovery') }),
  keys: closed({ maxStaleSeconds: whole(0)('how long API keys are accepted while the database is away') }),
  sessions: closed({
    hours: {
      type: 'number',
      exclusiveMinimum: 0,
      maximum: 720,
      description: 'after how many hours people have to sign in with their browser again',
    },
  }),
  audit: closed({
    retentionDays: count('how long audit entries are kept'),
    addresses: flag('false: sign-ins and refusals are recorded without the caller’s IP address'),
  }),
  signatures: closed({
    intervalSeconds: whole(10)(`${SECONDS_BETWEEN} checks of the signature of an agent’s document`),
  }),
  liveness: closed({
    enabled: flag('the directory checks whether agents can be reached'),
    intervalSeconds: whole(10)(`${SECONDS_BETWEEN} checks of an agent`),
  }),
  operations: closed({
    fetch: flag('the directory reads the tools, skills and operations that agents list themselves'),
    intervalSeconds: whole(10)(`${SECONDS_BETWEEN} readings of what an agent lists`),
  }),
  probes: closed({
    enabled: flag('the directory tries agents whose publishers agree, with their own examples'),
    intervalSeconds: whole(60)(`${SECONDS_BETWEEN} trials of an agent`),
  }),
  mdns: closed({
    enabled: flag('advertise the directory on the local network'),
    name: {
      type: 'string',
      minLength: 1,
      maxLength: 63,
      description: 'what people see in a list of directories; default: `Switchboard on` and the name of the machine',
    },
    interfaces: texts('names of the network interfaces on which it is advertised, such as `eth0`; default: all'),
  }),
  crawl: closed({
    enabled: flag('false: `/crawl` is not available, and no site is visited'),
    urls: texts('sites that are crawled: hosts, or URLs of cards or of an `agents.json`'),
    intervalSeconds: whole(60)(`${SECONDS_BETWEEN} visits to a site`),
    pauseMs: whole(100)(
      'pause between two requests to one host; a longer `Crawl-delay` in its `robots.txt` is honoured, up to 30 s',
    ),
    maxAgentsPerSite: whole(1, 1000)('agents that are read from one `agents.json`'),
    contact: {
      type: 'string',
      pattern: '^[!-~]{1,200}$',
      description:
        'a URL or `mailto:` address for the operators of sites, part of the `User-Agent`; default: the public URL',
    },
  }),
  policy: closed({
    names: list(
      closed({ names: texts('names, with `*` at the end'), subjects: texts('who may use them') }, [
        'names',
        'subjects',
      ]),
      'names reserved for subjects',
    ),
    owners: list(
      closed({ names: texts('names, with `*` at the end'), subject: text('the owner') }, ['names', 'subject']),
      'the owner of agents that a commissioning tool registers',
    ),
    capabilities: list(
      closed({
        name: text('name of the capability'),
        type: text('or its type'),
        subjects: texts('who may claim it'),
        scope: text('or which scope it needs'),
      }),
      'who may claim which capabilities',
    ),
    schemes: texts('allowed schemes of endpoints'),
    strict01: flag('AIDIP documents must also have version, publisher and tags'),
    lenientCapabilities: flag('AIDIP capabilities may be objects with a name'),
    refuseUnknownMembers: flag('members that no draft defines are rejected instead of kept'),
    strictExamples: flag('examples that do not match their schema are rejected'),
    strictOutputs: flag('responses of agents that do not match their schema are rejected'),
    strictSignatures: flag(
      'documents with a signature that is not valid are rejected; otherwise they are shown as such',
    ),
    requireDomainProof: flag(
      'new agents whose id names a domain (`https://…`, `agent://…`, `did:web:…`) need an owner who has proven it',
    ),
  }),
})
