;; What Emacs with eglot gets from the language server, as one line of JSON on standard output.  -*- lexical-binding: t -*-

(dolist (folder (file-expand-wildcards "/usr/share/emacs/site-lisp/elpa/*"))
  (add-to-list 'load-path folder))
(require 'eglot)
(require 'json)
(require 'xref)

(define-derived-mode writ-mode prog-mode "Writ")
(add-to-list 'auto-mode-alist '("\\.policy\\'" . writ-mode))
(setq eglot-sync-connect 20
      eglot-server-programs
      (list (cons 'writ-mode (append (json-read-from-string (getenv "WRIT_COMMAND")) nil))))

(defun writ-wait (done)
  "Waits until DONE says so, for thirty seconds at most."
  (let ((tries 600))
    (while (and (> tries 0) (not (funcall done)))
      (accept-process-output nil 0.05)
      (setq tries (1- tries)))))

(defvar writ-said nil "The diagnostics of the file, as the server has said them last.")
(cl-defmethod eglot-handle-notification :after
  (_server (_method (eql textDocument/publishDiagnostics)) &key uri diagnostics &allow-other-keys)
  (when (string-suffix-p (file-name-nondirectory (getenv "WRIT_FILE")) uri)
    (setq writ-said (append diagnostics nil))))

(defun writ-errors ()
  (seq-filter (lambda (one) (eql 1 (plist-get one :severity))) writ-said))

(setq default-directory (file-name-as-directory (getenv "WRIT_FOLDER")))
(setq project-find-functions (list (lambda (_dir) (cons 'transient (getenv "WRIT_FOLDER")))))
(find-file (getenv "WRIT_FILE"))
(apply #'eglot--connect (eglot--guess-contact))

(let (diagnostics fixed definition text)
  (writ-wait #'writ-errors)
  (setq diagnostics (mapcar (lambda (one) (plist-get one :code)) (writ-errors)))
  (goto-char (point-min))
  (search-forward "vendr")
  (replace-match "vendor")
  (eglot--signal-textDocument/didChange)
  (writ-wait (lambda () (null (writ-errors))))
  (setq fixed (length (writ-errors)))
  (goto-char (point-min))
  (search-forward "in vend")
  (setq definition
        (mapcar (lambda (item) (file-name-nondirectory (xref-location-group (xref-item-location item))))
                (xref-backend-definitions 'eglot (xref-backend-identifier-at-point 'eglot))))
  (eglot-format-buffer)
  (setq text (buffer-substring-no-properties (point-min) (point-max)))
  (princ (json-encode (list :diagnostics (vconcat diagnostics)
                            :fixed fixed
                            :definition (vconcat definition)
                            :text text)))
  (terpri)
  (set-buffer-modified-p nil))
