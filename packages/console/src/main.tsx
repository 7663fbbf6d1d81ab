import '@mantine/core/styles.css'
import './console.css'
import { createTheme, defaultVariantColorsResolver, MantineProvider } from '@mantine/core'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { Router } from 'wouter'
import { CONSOLE_BASE, NONCE } from './app/address.js'
import { SessionProvider } from './app/session.js'
import { Shell } from './app/shell.js'

const theme = createTheme({
  primaryColor: 'cyan',
  primaryShade: { light: 9, dark: 5 },
  autoContrast: true,
  // Mantine chooses the text of filled buttons by the light shade, which cannot be read on the dark one. The shades of all
  // colours are about equally light.
  variantColorResolver: (input) => ({
    ...defaultVariantColorsResolver(input),
    ...(input.variant === 'filled' && { color: 'var(--mantine-primary-color-contrast)' }),
  }),
  defaultRadius: 'sm',
  respectReducedMotion: true,
  cursorType: 'pointer',
})

const root = document.getElementById('root')
if (!root) throw new Error('the page has no element with the id "root"')

createRoot(root).render(
  <StrictMode>
    <MantineProvider theme={theme} defaultColorScheme="auto" getStyleNonce={() => NONCE}>
      <SessionProvider>
        <Router base={CONSOLE_BASE}>
          <Shell />
        </Router>
      </SessionProvider>
    </MantineProvider>
  </StrictMode>,
)
