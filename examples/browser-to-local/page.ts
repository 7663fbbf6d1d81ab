// Runs in the page. Its address says where the local runtime listens: ?bridge=http://127.0.0.1:…
import { ClientError, invokeAgent } from '@switchboard/client'

const bridge = new URLSearchParams(location.search).get('bridge') ?? ''
const show = (id: 'state' | 'count', text: string): void => {
  document.querySelector(`#${id}`)?.replaceChildren(text)
}

document.querySelector('#ask')?.addEventListener('click', async () => {
  show('state', 'waiting for the person')
  const response = await fetch(`${bridge}/consents`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ agent: 'notes', capability: 'add' }),
  })
  const { token } = await response.json()
  if (response.ok) localStorage.setItem('token', token)
  show('state', response.ok ? 'allowed' : 'not allowed')
})

document.querySelector<HTMLFormElement>('#add')?.addEventListener('submit', async (event) => {
  event.preventDefault()
  show('state', 'adding')
  const token = localStorage.getItem('token')
  const text = document.querySelector<HTMLInputElement>('[name=text]')?.value ?? ''
  const options = {
    localBridge: bridge,
    ...(token !== null && { credentials: { type: 'bearer' as const, token } }),
  }
  try {
    const { output } = await invokeAgent<{ count: number }>('agent+local://notes/add', { text }, options)
    show('count', String(output.count))
    show('state', 'added')
  } catch (error) {
    show('state', `refused: ${error instanceof ClientError ? error.code : error}`)
  }
})
