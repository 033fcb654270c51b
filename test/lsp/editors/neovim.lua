-- What Neovim gets from the language server, as one line of JSON. Arguments: the server's command, the folder, the file.

local command, folder, file = vim.fn.json_decode(vim.env.WRIT_COMMAND), vim.env.WRIT_FOLDER, vim.env.WRIT_FILE
vim.cmd('edit ' .. file)
local buffer = vim.api.nvim_get_current_buf()
local client = vim.lsp.start_client({
  name = 'writ',
  cmd = command,
  root_dir = folder,
  workspace_folders = { { uri = vim.uri_from_fname(folder), name = 'policies' } },
})
vim.lsp.buf_attach_client(buffer, client)

local function ask(method, params)
  params.textDocument = { uri = vim.uri_from_fname(file) }
  local answers = vim.lsp.buf_request_sync(buffer, method, params, 30000) or {}
  return (answers[client] or {}).result or {}
end

local got = {}
vim.wait(30000, function()
  return #vim.diagnostic.get(buffer) > 0
end)
got.diagnostics = vim.tbl_map(function(one)
  return { line = one.lnum, message = one.message, code = one.code }
end, vim.diagnostic.get(buffer))

-- Mends the mistake as a person who types, and waits until it is gone.
local line = vim.api.nvim_buf_get_lines(buffer, 1, 2, false)[1]
vim.api.nvim_buf_set_lines(buffer, 1, 2, false, { (line:gsub('vendr', 'vendor')) })
vim.wait(30000, function()
  return #vim.diagnostic.get(buffer, { severity = vim.diagnostic.severity.ERROR }) == 0
end)
got.fixed = #vim.diagnostic.get(buffer, { severity = vim.diagnostic.severity.ERROR })

local at = { line = 1, character = line:find('vendors') }
local definitions = ask('textDocument/definition', { position = at })
got.definition = definitions[1] and definitions[1].uri:match('[^/]+$') or ''
got.hover = (ask('textDocument/hover', { position = at }).contents or {}).value or ''
got.symbols = vim.tbl_map(function(one)
  return one.name
end, ask('textDocument/documentSymbol', {}))
got.completions = #ask('textDocument/completion', { position = { line = 1, character = line:find('payload%.') + 7 } })
vim.lsp.buf.formatting_sync({}, 30000)
got.text = table.concat(vim.api.nvim_buf_get_lines(buffer, 0, -1, false), '\n')

io.stdout:write(vim.fn.json_encode(got) .. '\n')
vim.cmd('qall!')
