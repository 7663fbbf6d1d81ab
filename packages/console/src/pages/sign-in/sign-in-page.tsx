import { Alert, Button, Divider, Stack, Text, TextInput, Title } from '@mantine/core'
import { type FormEvent, type ReactNode, useRef, useState } from 'react'
import { useLocation, useSearch } from 'wouter'
import { addressOf, CONSOLE_BASE } from '../../app/address.js'
import { useSession } from '../../app/session.js'
import { messageOf } from '../../parts/failure.js'
import { Loading } from '../../parts/loading.js'
import { strings } from '../../strings.js'

const { signIn: texts } = strings

/** Signing in with an API key, or at an identity provider that the operator has configured. */
export function SignInPage(): ReactNode {
  const { isKnown, subject, acceptsKeys, providers } = useSession()
  const from = ownPath(new URLSearchParams(useSearch()).get('from'))
  if (!isKnown) return <Loading />
  const canSignIn = acceptsKeys || providers.length > 0
  return (
    <Stack maw={440} mx="auto" gap="md">
      <Title order={1}>{texts.title}</Title>
      {subject === undefined ? <Text>{canSignIn ? texts.why : texts.impossible}</Text> : <SignedIn subject={subject} />}
      {providers.map(({ name, href }) => (
        <Button
          key={href}
          component="a"
          variant="default"
          size="md"
          href={`${href}?${new URLSearchParams({ return_to: CONSOLE_BASE + from })}`}
        >
          {texts.with(name)}
        </Button>
      ))}
      {providers.length > 0 && acceptsKeys && <Divider label={texts.or} />}
      {acceptsKeys && <KeyForm from={from} />}
    </Stack>
  )
}

/** For those who open the page although they are signed in, such as to become someone else. */
function SignedIn({ subject }: { readonly subject: string }): ReactNode {
  return <Alert role="status">{texts.signedInAs(subject)}</Alert>
}

function KeyForm({ from }: { readonly from: string }): ReactNode {
  const { signIn } = useSession()
  const [, navigate] = useLocation()
  const [error, setError] = useState<unknown>()
  const [isPending, setPending] = useState(false)
  const input = useRef<HTMLInputElement>(null)

  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault()
    const key = input.current?.value.trim() ?? ''
    if (key === '') return setError(new Error(texts.missing))
    setPending(true)
    try {
      await signIn(key)
      navigate(from)
    } catch (reason) {
      setError(reason)
      setPending(false)
      input.current?.focus()
    }
  }

  return (
    <form onSubmit={submit} noValidate>
      <Stack gap="md">
        <TextInput
          ref={input}
          type="password"
          label={texts.key}
          description={texts.keyHelp}
          name="key"
          size="md"
          autoComplete="current-password"
          spellCheck={false}
          autoFocus
          error={error === undefined ? undefined : <span role="alert">{messageOf(error)}</span>}
        />
        <Button type="submit" size="md" loading={isPending}>
          {texts.button}
        </Button>
      </Stack>
    </form>
  )
}

/** The page of the console to return to; a link must not lead elsewhere. */
const ownPath = (path: string | null): string =>
  path !== null && /^\/(?![/\\])/.test(path) && !path.startsWith(addressOf.signIn()) ? path : addressOf.search()
