import type { JsonObject } from '@switchboard/protocol'
import { MAX_QUERIES, PEER_PROTOCOLS, TRUST_LEVELS } from '../policy/federation.js'
import { closed, count, flag, list, oneOf, SECONDS_BETWEEN, text, texts, url, whole } from './setting-types.js'

/** Whose tokens are accepted. */
export const issuers: JsonObject = list(
  closed(
    {
      issuer: text('`iss` of its tokens'),
      audience: {
        anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }],
        description: '`aud` of its tokens; any of them, if it is a list',
      },
      jwksUrl: url('its key set; required unless you configure `introspection` or `signIn`'),
      subjects: oneOf('plain', 'qualified')('which subject a token stands for'),
      trustDomains: {
        type: 'array',
        items: { type: 'string', pattern: '^[a-z0-9._-]{1,255}$' },
        description: 'SPIFFE trust domains that this issuer speaks for',
      },
      scopes: list(
        closed(
          {
            claim: {
              anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' }, minItems: 1 }],
              description: 'path of the claim, with dots or as a list',
            },
            values: {
              type: 'object',
              additionalProperties: { type: 'array', items: { type: 'string' } },
              description: 'scopes of each value; without it, the values are the scopes',
            },
          },
          ['claim'],
        ),
        'which claims give which scopes; default: `scope` and `scp`',
      ),
      introspection: closed(
        {
          url: url('where the directory asks the issuer about tokens (RFC 7662)'),
          clientId: text('with which credentials'),
          clientSecretFile: text('a file with the client secret'),
          clientSecretVariable: text('or an environment variable with it'),
          opaque: flag('accept opaque tokens of this issuer; at most one issuer'),
          jwts: flag('ask about JWTs too, so that revoked ones are rejected'),
          cacheSeconds: count('how long an answer is used, default 30'),
        },
        ['url', 'clientId'],
      ),
      signIn: closed(
        {
          clientId: text('this directory at the OpenID provider, where people sign in with their browser'),
          clientSecretFile: text('a file with the client secret; without it, and without a variable, a public client'),
          clientSecretVariable: text('or an environment variable with it'),
          name: {
            type: 'string',
            minLength: 1,
            maxLength: 60,
            description: 'what people read on the button; default: the host of the issuer',
          },
          requestScopes: texts('what to request from the provider; default: `openid`'),
          scopes: texts('scopes here of everybody who signs in, besides those of their claims'),
        },
        ['clientId'],
      ),
    },
    ['issuer', 'audience'],
  ),
  'accepted issuers of tokens',
)

/** Directories to federate with. */
export const peers: JsonObject = list(
  closed(
    {
      name: text('a name of your choice'),
      url: url('base URL of the other directory'),
      token: text('credential at the peer; decides which of its agents you see'),
      tokenFile: text('or a file with the credential'),
      trust: oneOf(...TRUST_LEVELS)(
        '`full`: its agents rank like local ones; `limited` (default): they rank lower; `quarantine`: you accept each one; `none`: nothing is read, and its agents are removed',
      ),
      intervalSeconds: count(`${SECONDS_BETWEEN} requests for changes, default 300; after failures up to an hour`),
      tags: texts('only agents with one of these tags'),
      publishers: texts(
        'only agents whose publisher, or the host of whose origin, has one of these names; `acme*` matches by prefix',
      ),
      rankWeight: {
        type: 'number',
        exclusiveMinimum: 0,
        maximum: 1,
        description: 'factor of the scores of its agents',
      },
      maxAgents: count('further agents are refused; default 10000'),
      keepSeconds: whole(60)('how long its agents stay after it was last heard, default 86400'),
      protocol: oneOf(...PEER_PROTOCOLS)(
        '`feed` (another Switchboard), `directory` (any Agent Directory), `profile` (a discovery service); `auto` (default) tries them in this order',
      ),
      queries: {
        type: 'array',
        items: { type: 'string' },
        maxItems: MAX_QUERIES,
        description:
          'what a discovery service is asked for: it has no list, so its best candidates for these queries are copied',
      },
    },
    ['name', 'url'],
  ),
  'directories whose agents this one lists',
)
