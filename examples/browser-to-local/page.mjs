// Runs in the page. The runtime that listens on this computer is told in the page's address: ?bridge=http://127.0.0.1:…
import { invokeAgent } from '@switchboard/client'

const bridge = new URLSearchParams(location.search).get('bridge')
const element = (id) => document.getElementById(id)
const say = (text) => {
  element('state').textContent = text
}

element('ask').addEventListener('click', async () => {
  say('waiting for the person')
  const answer = await fetch(`${bridge}/consents`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ agent: 'notes', capability: 'add' }),
  })
  const { token } = await answer.json()
  if (answer.ok) localStorage.setItem('token', token)
  say(answer.ok ? 'allowed' : 'not allowed')
})

element('add').addEventListener('submit', async (event) => {
  event.preventDefault()
  say('adding')
  const token = localStorage.getItem('token')
  const credentials = token === null ? {} : { credentials: { type: 'bearer', token } }
  try {
    const text = new FormData(event.target).get('text')
    const { output } = await invokeAgent('agent+local://notes/add', { text }, { localBridge: bridge, ...credentials })
    element('count').textContent = output.count
    say('added')
  } catch (error) {
    say(`refused: ${error.code}`)
  }
})
