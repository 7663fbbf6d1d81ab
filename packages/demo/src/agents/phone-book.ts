import { type Agent, AgentError, createAgent } from '@switchboard/agent'

/** The key that callers need. A real agent would read it from its configuration. */
export const PHONE_BOOK_KEY = 'demo-key-of-the-phone-book'

const COLLEAGUES = [
  { name: 'Ada Moreau', department: 'Finance', extension: '4071', room: 'B 204' },
  { name: 'Ben Okafor', department: 'Support', extension: '4112', room: 'A 011' },
  { name: 'Chiara Rossi', department: 'Research', extension: '4233', room: 'C 310' },
  { name: 'Dilan Aydin', department: 'Sales', extension: '4198', room: 'B 118' },
  { name: 'Emma Lindqvist', department: 'Human resources', extension: '4005', room: 'A 102' },
]

/** `authentication` turns away callers without a key; the directory passes the caller's key on to the agent. */
export const createPhoneBook = (): Agent =>
  createAgent({
    id: 'demo-phone-book',
    name: 'Company phone book',
    version: '1.0.0',
    description: "Looks up a colleague's phone extension, department and office. Only for callers with a key.",
    tags: ['demo', 'company', 'contacts', 'people'],
    examples: ['what is the phone number of Ben in support?', 'where is the office of Chiara?'],
    authentication: { apiKeys: [{ subject: 'staff', key: PHONE_BOOK_KEY }] },
    capabilities: [
      {
        name: 'lookup',
        description: 'Finds a colleague by a part of the name or by the department.',
        safe: true,
        input: { who: 'string' },
        output: { name: 'string', department: 'string', extension: 'string', room: 'string' },
        handler({ who }, { caller }) {
          const wanted = who.trim().toLowerCase()
          const found = COLLEAGUES.find((each) => `${each.name} ${each.department}`.toLowerCase().includes(wanted))
          if (found) return found
          throw new AgentError('not_found', `${caller.subject} has no colleague "${who}"`)
        },
      },
    ],
  })
