-- What Neovim gets from the language server, as one line of JSON: each question that WRIT_ASKS holds, and what its own functions make of
-- diagnostics, a fix, a rename, lines above a text and formatting.

local command, folder = vim.fn.json_decode(vim.env.WRIT_COMMAND), vim.env.WRIT_FOLDER
local asks = vim.fn.json_decode(vim.env.WRIT_ASKS)
local waits = 60000
local client, buffers = nil, {}
for _, name in ipairs(vim.fn.json_decode(vim.env.WRIT_FILES)) do
  vim.cmd('edit ' .. folder .. '/' .. name)
  buffers[name] = vim.api.nvim_get_current_buf()
  client = client or vim.lsp.start_client({
    name = 'writ',
    cmd = command,
    root_dir = folder,
    workspace_folders = { { uri = vim.uri_from_fname(folder), name = 'policies' } },
  })
  vim.lsp.buf_attach_client(buffers[name], client)
end
local rules, tests, config = buffers['policies/rules.policy'], buffers['policies/rules.test.yaml'], buffers['writ.yaml']

local function ask(method, params)
  local answers = vim.lsp.buf_request_sync(rules, method, params, waits) or {}
  return (answers[client] or {}).result
end

local function errors(buffer)
  return vim.diagnostic.get(buffer, { severity = vim.diagnostic.severity.ERROR })
end

local function shown(buffer)
  return vim.tbl_map(function(one)
    return { line = one.lnum, code = one.code or '' }
  end, errors(buffer))
end

local function text(buffer)
  return table.concat(vim.api.nvim_buf_get_lines(buffer, 0, -1, false), '\n')
end

local got = { answers = {} }
vim.wait(waits, function()
  return #errors(rules) > 0 and #errors(config) > 0
end)
got.diagnostics, got.settings = shown(rules), shown(config)

-- The fix that the server offers mends the mistake.
local line = errors(rules)[1].lnum
local actions = ask('textDocument/codeAction', {
  textDocument = { uri = vim.uri_from_bufnr(rules) },
  range = { start = { line = line, character = 0 }, ['end'] = { line = line, character = 80 } },
  context = { diagnostics = {} },
})
vim.lsp.util.apply_workspace_edit(actions[1].edit, 'utf-16')
vim.wait(waits, function()
  return #errors(rules) == 0 and #errors(tests) > 0
end)
got.mended, got.tests = #errors(rules), shown(tests)

for _, one in ipairs(asks) do
  local answer = ask(one.method, one.params)
  if one.isResolved then
    answer = vim.tbl_map(function(lens)
      return lens.command and lens or ask('codeLens/resolve', lens)
    end, answer)
  end
  got.answers[one.name] = answer
end
vim.wait(waits, function()
  return #vim.diagnostic.get(rules, { severity = vim.diagnostic.severity.INFO }) > 0
end)
got.changes = #vim.diagnostic.get(rules, { severity = vim.diagnostic.severity.INFO })

vim.cmd('buffer ' .. rules)
vim.lsp.codelens.refresh()
vim.wait(waits, function()
  local lenses = vim.lsp.codelens.get(rules)
  return #lenses > 0 and vim.tbl_count(vim.tbl_filter(function(one)
    return one.command == nil
  end, lenses)) == 0
end)
got.lenses = vim.tbl_map(function(one)
  return one.command.title
end, vim.lsp.codelens.get(rules))

vim.fn.cursor(vim.fn.search('allow known', 'n'), 10)
vim.lsp.buf.rename('usual')
vim.wait(waits, function()
  return text(rules):find('allow usual') ~= nil and text(tests):find('payments/usual') ~= nil
end)
got.renamed = text(tests):find('payments/usual') ~= nil
vim.lsp.buf.formatting_sync({}, waits)
got.text = text(rules)

io.stdout:write(vim.fn.json_encode(got) .. '\n')
vim.cmd('qall!')
